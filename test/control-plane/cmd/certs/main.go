// Command certs makes the keys and certificates of a test cluster, so that tests need no other tool for them.
// It reads one request as JSON from standard input and writes one answer as JSON to standard output.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// validity is longer than any test run; the authority outlives everything that it or kube-controller-manager signs.
const (
	validity          = 30 * 24 * time.Hour
	authorityValidity = 10 * 365 * 24 * time.Hour
	// backdate tolerates a clock that is set back while a test runs.
	backdate = time.Hour
)

// pair is a certificate and its private key (PKCS #8), both PEM.
type pair struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// subject asks for one certificate. It serves as client certificate, and as serving certificate when hosts are given.
type subject struct {
	CommonName    string   `json:"commonName"`
	Organizations []string `json:"organizations"`
	Hosts         []string `json:"hosts"`
	// LifetimeSeconds takes the place of validity, for tests of what expires.
	LifetimeSeconds int `json:"lifetimeSeconds"`
}

type request struct {
	// Authority signs; a new one is made when it is absent.
	Authority *pair              `json:"authority"`
	Subjects  map[string]subject `json:"subjects"`
}

type answer struct {
	Authority    pair            `json:"authority"`
	Certificates map[string]pair `json:"certificates"`
}

type authority struct {
	certificate *x509.Certificate
	key         any
	encoded     pair
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "certs:", err)
		os.Exit(1)
	}
}

func run() error {
	var wanted request
	if err := json.NewDecoder(os.Stdin).Decode(&wanted); err != nil {
		return fmt.Errorf("read the request from standard input: %w", err)
	}
	signer, err := loadOrCreate(wanted.Authority)
	if err != nil {
		return err
	}
	made := answer{Authority: signer.encoded, Certificates: map[string]pair{}}
	for name, subject := range wanted.Subjects {
		if made.Certificates[name], err = signer.issue(subject); err != nil {
			return fmt.Errorf("issue %q: %w", name, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}

func loadOrCreate(given *pair) (*authority, error) {
	if given == nil {
		return createAuthority()
	}
	certificate, _ := pem.Decode([]byte(given.Certificate))
	key, _ := pem.Decode([]byte(given.Key))
	if certificate == nil || key == nil {
		return nil, errors.New("load the authority: certificate or key is not PEM")
	}
	parsed, err := x509.ParseCertificate(certificate.Bytes)
	if err != nil {
		return nil, fmt.Errorf("load the authority's certificate: %w", err)
	}
	private, err := x509.ParsePKCS8PrivateKey(key.Bytes)
	if err != nil {
		return nil, fmt.Errorf("load the authority's key: %w", err)
	}
	return &authority{certificate: parsed, key: private, encoded: *given}, nil
}

func createAuthority() (*authority, error) {
	template, err := newTemplate("cloudwire-test-authority", authorityValidity)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return loadOrCreate(&encoded)
}

func (a *authority) issue(wanted subject) (pair, error) {
	lifetime := validity
	if wanted.LifetimeSeconds > 0 {
		lifetime = time.Duration(wanted.LifetimeSeconds) * time.Second
	}
	template, err := newTemplate(wanted.CommonName, lifetime)
	if err != nil {
		return pair{}, err
	}
	template.Subject.Organization = wanted.Organizations
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(wanted.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range wanted.Hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	return sign(template, a.certificate, key, a.key)
}

func newTemplate(commonName string, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer any) (pair, error) {
	certificate, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{Certificate: encode("CERTIFICATE", certificate), Key: encode("PRIVATE KEY", private)}, nil
}

func encode(kind string, bytes []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
}
