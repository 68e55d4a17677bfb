package amqp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
	"github.com/go-cyborg/cyborg/rpc/internal/wire"
)

// certificate makes a self-signed certificate for a host and gives it with a file that holds it and its key.
func certificate(t *testing.T, host string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	file := filepath.Join(t.TempDir(), "both.pem")
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	must(t, os.WriteFile(file, both, 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// terminate accepts TLS and passes the inside on to the broker.
func terminate(t *testing.T, certificate tls.Certificate, target string) (address string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	must(t, err)
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				return
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				all.Go(func() {
					defer pair[0].Close()
					defer pair[1].Close()
					// Either end closes at some time; why does not matter.
					_, _ = io.Copy(pair[0], pair[1])
				})
			}
		}
	})
	return l.Addr().String()
}

// TestIntegrationTLS: verified with a CA file, encrypted alone without, and never with the wrong CA or the wrong name.
func TestIntegrationTLS(t *testing.T) {
	u, err := amqp.ParseURL(broker(t))
	must(t, err)
	right, ca := certificate(t, "127.0.0.1")
	_, otherCA := certificate(t, "127.0.0.1")
	misnamed, misnamedCA := certificate(t, "elsewhere.example")
	for name, c := range map[string]struct {
		server  tls.Certificate
		options string
		refused string
	}{
		"verified":                      {right, "?ssl=true&ssl_ca_file=" + ca, ""},
		"encrypted only":                {right, "?ssl=1", ""},
		"key in the certificate's file": {right, "?ssl=true&ssl_cert_file=" + ca, ""},
		"wrong CA":                      {right, "?ssl=true&ssl_ca_file=" + otherCA, "unknown authority"},
		"wrong name":                    {misnamed, "?ssl=true&ssl_ca_file=" + misnamedCA, "127.0.0.1"},
		"no such file":                  {right, "?ssl=true&ssl_ca_file=/no/such/file", "ssl_ca_file"},
	} {
		t.Run(name, func(t *testing.T) {
			address := terminate(t, c.server, u.Hosts[0].Address())
			tr, err := amqp.Open(amqp.Config{
				URL: strings.Replace(broker(t), u.Hosts[0].Address(), address, 1) + c.options, ControlExchange: "suite", OpTimeout: 3 * time.Second,
			})
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			done := make(chan error, 1)
			tr.Send(ctx, rpc.Message{To: rpc.Address{Topic: "check-" + wire.NewID()[:12], Fanout: true}, Body: []byte("{}")}, func(err error) { done <- err })
			err = <-done
			impediment := fmt.Sprint(tr.Impediment())
			must(t, tr.Close(t.Context()))
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(impediment, c.refused)) {
				t.Errorf("sending: %v, impediment: %s", err, impediment)
			}
		})
	}
}
