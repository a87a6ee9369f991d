package provider_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// authority signs certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.certificate, _ = x509.ParseCertificate(raw)
	return a
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// sign makes a certificate for 127.0.0.1 and its key, both PEM.
func (a *authority) sign(t *testing.T) (certificate, key []byte) {
	t.Helper()
	a.serial++
	own, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial + 1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := x509.MarshalECPrivateKey(own)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
}

func TestTCPIsServedToKnownClientsOnly(t *testing.T) {
	trusted, stranger := newAuthority(t), newAuthority(t)
	directory := t.TempDir()
	certificate, key := trusted.sign(t)
	files := &provider.TLSFiles{CertFile: filepath.Join(directory, "c"), KeyFile: filepath.Join(directory, "k"), ClientCAFile: filepath.Join(directory, "a")}
	for path, content := range map[string][]byte{files.CertFile: certificate, files.KeyFile: key, files.ClientCAFile: trusted.pem()} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, err := provider.Start(machines(nil), provider.Options{Endpoint: "tcp://127.0.0.1:0", TLS: files, Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(trusted.certificate)
	call := func(signer *authority) error {
		config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		if signer != nil {
			pair, err := tls.X509KeyPair(signer.sign(t))
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		connection, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(credentials.NewTLS(config)))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = cpv1.NewCloudProviderClient(connection).GetProviderStatus(ctx, &cpv1.GetProviderStatusRequest{})
		return err
	}
	if err := call(trusted); err != nil {
		t.Errorf("a known client: %v", err)
	}
	if call(stranger) == nil || call(nil) == nil {
		t.Error("a stranger was served")
	}
}
