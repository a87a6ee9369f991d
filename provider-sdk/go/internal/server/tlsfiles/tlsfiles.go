// Package tlsfiles is TLS with client certificates, from files that may change while a server serves.
package tlsfiles

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// Files of a server: its certificate and key, and the authorities whose clients may call. All PEM.
type Files struct{ Cert, Key, ClientCA string }

// material is what the files hold.
type material struct {
	raw         [3][]byte
	certificate tls.Certificate
	authorities *x509.CertPool
	expires     time.Time
}

// Reloader hands new connections what the files hold; those that stand go on.
type Reloader struct {
	files   Files
	log     *slog.Logger
	current atomic.Pointer[material]
	// problem is that of the last files that were not taken, so that it is said once.
	problem string
}

// New reads the files; the error names all their problems.
func New(files Files, log *slog.Logger) (*Reloader, error) {
	read, err := files.read()
	if err != nil {
		return nil, err
	}
	r := &Reloader{files: files, log: log}
	r.current.Store(read)
	if problem := read.expiry(files, time.Now()); problem != "" {
		log.Warn("Callers will refuse the certificate; put a new one in its place", "problem", problem)
	}
	return r, nil
}

// Config is for a server; each new connection gets what the files hold by then.
func (r *Reloader) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := r.current.Load()
			return &tls.Config{
				MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}, Certificates: []tls.Certificate{now.certificate},
				ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: now.authorities,
			}, nil
		},
	}
}

// Follow reads the files again and again until ctx ends; content is compared, because mounted Secrets change by symbolic
// link.
func (r *Reloader) Follow(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.Reload(time.Now())
		}
	}
}

// Reload takes what the files hold now; files that are being written, are wrong or have expired change nothing.
func (r *Reloader) Reload(now time.Time) {
	read, err := r.files.read()
	problem := ""
	if err != nil {
		problem = err.Error()
	} else {
		problem = read.expiry(r.files, now)
	}
	if problem != "" {
		if problem != r.problem {
			r.log.Warn("The changed TLS files are not taken; the ones before stay", "problem", problem)
		}
		r.problem = problem
		return
	}
	r.problem = ""
	if before := r.current.Load(); read.same(before) {
		return
	}
	r.current.Store(read)
	r.log.Info("Serving with changed TLS files", "file", r.files.Cert, "expires", read.expires)
}

func (f Files) read() (*material, error) {
	out := &material{}
	var problems []error
	for i, path := range []string{f.Cert, f.Key, f.ClientCA} {
		content, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s cannot be read", path))
		} else if !bytes.Contains(content, []byte("-----BEGIN ")) {
			problems = append(problems, fmt.Errorf("%s is not a PEM file", path))
		}
		out.raw[i] = content
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	certificate, err := tls.X509KeyPair(out.raw[0], out.raw[1])
	if err != nil {
		problems = append(problems, fmt.Errorf("%s and %s are no certificate and its key: %w", f.Cert, f.Key, err))
	}
	out.certificate = certificate
	out.authorities = x509.NewCertPool()
	if !out.authorities.AppendCertsFromPEM(out.raw[2]) {
		problems = append(problems, fmt.Errorf("%s holds no certificate", f.ClientCA))
	}
	if leaf := certificate.Leaf; leaf != nil {
		out.expires = leaf.NotAfter
	}
	return out, errors.Join(problems...)
}

func (m *material) same(other *material) bool {
	for i := range m.raw {
		if !bytes.Equal(m.raw[i], other.raw[i]) {
			return false
		}
	}
	return true
}

func (m *material) expiry(files Files, now time.Time) string {
	if m.expires.After(now) {
		return ""
	}
	return fmt.Sprintf("the certificate in %s expired at %s", files.Cert, m.expires.Format(time.RFC3339))
}
