package tlsfiles

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// write makes a certificate that signs itself, with this number, and its key.
func write(t *testing.T, files Files, serial int64, ends time.Time) {
	t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: ends, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := x509.MarshalECPrivateKey(key)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	put(t, files.Cert, certificate)
	put(t, files.ClientCA, certificate)
	put(t, files.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func serial(t *testing.T, r *Reloader) int64 {
	t.Helper()
	config, err := r.Config().GetConfigForClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	return config.Certificates[0].Leaf.SerialNumber.Int64()
}

func TestReloadTakesGoodFilesOnly(t *testing.T) {
	directory, now := t.TempDir(), time.Now()
	files := Files{filepath.Join(directory, "cert"), filepath.Join(directory, "key"), filepath.Join(directory, "ca")}
	write(t, files, 1, now.Add(time.Hour))
	r, err := New(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name   string
		change func()
		want   int64
	}{
		{"new ones", func() { write(t, files, 2, now.Add(time.Hour)) }, 2},
		{"half written", func() { put(t, files.Cert, []byte("-----BEGIN ")) }, 2},
		{"expired", func() { write(t, files, 3, now.Add(-time.Hour)) }, 2},
		{"gone", func() { os.Remove(files.Key) }, 2},
		{"good again", func() { write(t, files, 4, now.Add(time.Hour)) }, 4},
	}
	for _, step := range steps {
		step.change()
		r.Reload(now)
		if got := serial(t, r); got != step.want {
			t.Errorf("%s: serves %d, want %d", step.name, got, step.want)
		}
	}
}

func TestALiveServerTakesNewFiles(t *testing.T) {
	directory, ends := t.TempDir(), time.Now().Add(time.Hour)
	files := Files{filepath.Join(directory, "cert"), filepath.Join(directory, "key"), filepath.Join(directory, "ca")}
	write(t, files, 1, ends)
	r, err := New(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", r.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { r.Follow(ctx, time.Millisecond) })
	background.Go(func() { echo(listener) })
	t.Cleanup(func() {
		cancel()
		listener.Close()
		background.Wait()
	})
	first := connect(t, listener.Addr().String(), files)
	defer first.Close()
	write(t, files, 2, ends)
	for served := int64(1); served != 2; {
		next := connect(t, listener.Addr().String(), files)
		served = next.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
		next.Close()
	}
	if err := roundTrip(first); err != nil {
		t.Errorf("the connection from before: %v", err)
	}
}

// echo answers each connection with what it says.
func echo(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			_, _ = io.Copy(connection, connection)
		}()
	}
}

// connect shows the certificate that the files hold, until the server knows its authority.
func connect(t *testing.T, address string, files Files) *tls.Conn {
	t.Helper()
	for ends := time.Now().Add(10 * time.Second); time.Now().Before(ends); {
		own, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		// Who serves is looked at by its number.
		connection, err := tls.Dial("tcp", address, &tls.Config{Certificates: []tls.Certificate{own}, InsecureSkipVerify: true})
		if err != nil {
			continue
		}
		// In TLS 1.3 a refusal of the client comes with the first answer.
		if roundTrip(connection) == nil {
			return connection
		}
		connection.Close()
	}
	t.Fatal("the server does not take the certificate")
	return nil
}

func roundTrip(connection *tls.Conn) error {
	if _, err := connection.Write([]byte("x")); err != nil {
		return err
	}
	_, err := io.ReadFull(connection, make([]byte, 1))
	return err
}

func TestNewNamesEverythingThatIsWrong(t *testing.T) {
	directory := t.TempDir()
	put(t, filepath.Join(directory, "ca"), []byte("hello"))
	_, err := New(Files{filepath.Join(directory, "cert"), filepath.Join(directory, "key"), filepath.Join(directory, "ca")}, slog.New(slog.DiscardHandler))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v", err)
	}
}
