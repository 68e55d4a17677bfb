//go:build unix

package amqp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/rpc"
	"github.com/go-cyborg/cyborg/rpc/amqp"
)

// authority issues certificates, each with its key in files of one directory.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = a.issue("ca", a.cert)
	return a
}

// issue writes NAME.pem and NAME.key; the first certificate signs itself.
func (a *authority) issue(name string, template *x509.Certificate) *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, signer)
	must(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	must(a.t, os.WriteFile(a.file(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(a.t, os.WriteFile(a.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return key
}

// leaf issues a certificate for a client and server of that name, at 127.0.0.1.
func (a *authority) leaf(name string, serial int64) {
	a.t.Helper()
	a.issue(name, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// secureNode is a node that takes TLS connections with certificates of the authority, and log-ins with them.
func secureNode(t *testing.T, a *authority) (n *node, address string) {
	t.Helper()
	address = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	n = startNodeWith(t, "rabbitmq_auth_mechanism_ssl", strings.Join([]string{
		"listeners.ssl.1 = " + address,
		"ssl_options.cacertfile = " + a.file("ca.pem"), "ssl_options.certfile = " + a.file("broker.pem"), "ssl_options.keyfile = " + a.file("broker.key"),
		"ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = false", "ssl_cert_login_from = common_name",
		"auth_mechanisms.1 = EXTERNAL", "auth_mechanisms.2 = PLAIN", "auth_mechanisms.3 = AMQPLAIN", "",
	}, "\n"))
	n.ctl("add_user", "cyborg", "unused")
	n.ctl("clear_password", "cyborg")
	n.ctl("set_permissions", "cyborg", ".*", ".*", ".*")
	return n, address
}

// TestIntegrationExternalLogin: with rabbit_login_method = EXTERNAL the user is who the certificate says, and needs no
// password; who has no certificate, or one that is nobody's, is told what to mend.
func TestIntegrationExternalLogin(t *testing.T) {
	a := newAuthority(t)
	for i, name := range []string{"broker", "cyborg", "stranger"} {
		a.leaf(name, int64(i+2))
	}
	n, address := secureNode(t, a)
	url := func(certificate string) string {
		u := "rabbit://" + address + "/?rabbit_login_method=EXTERNAL&ssl=true&ssl_ca_file=" + a.file("ca.pem")
		if certificate != "" {
			u += "&ssl_cert_file=" + a.file(certificate+".pem") + "&ssl_key_file=" + a.file(certificate+".key")
		}
		return u
	}
	t.Run("call", func(t *testing.T) {
		n.t = t
		tr := open(t, url("cyborg"))
		ep := rpc.NewEndpoint("", "1.0")
		ping := rpc.NewMethod[struct{}, string]("ping", "1.0")
		ping.Handle(ep, func(context.Context, struct{}) (string, error) { return "pong", nil })
		stop := serving(t, tr, "external", ep)
		client := rpc.NewClient(tr, rpc.ClientConfig{Timeout: 10 * time.Second})
		if got, err := ping.Call(t.Context(), rpc.Remote{Client: client, Target: rpc.Target{Topic: "external"}}, struct{}{}); err != nil || got != "pong" {
			t.Errorf("%q, %v", got, err)
		}
		var users []string
		for line := range strings.Lines(n.ctl("list_connections", "user", "auth_mechanism", "ssl")) {
			if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "user" {
				users = append(users, strings.Join(fields, " "))
			}
		}
		if len(users) != 3 || strings.Join(users, "") != strings.Repeat("cyborg EXTERNAL true", 3) {
			t.Errorf("connections: %q", users)
		}
		must(t, client.Close(t.Context()))
		stop()
	})
	for name, certificate := range map[string]string{"a certificate of nobody": "stranger", "no certificate": ""} {
		t.Run(name, func(t *testing.T) {
			tr, err := amqp.Open(amqp.Config{URL: url(certificate), ControlExchange: "external", OpTimeout: 6 * time.Second})
			must(t, err)
			done := make(chan error, 1)
			tr.Send(t.Context(), rpc.Message{To: rpc.Address{Topic: "external", Fanout: true}, Body: []byte("{}")}, func(err error) { done <- err })
			until(t, 15*time.Second, "the refusal", func() bool { return strings.Contains(fmt.Sprint(tr.Impediment()), "refuses") })
			impediment := fmt.Sprint(tr.Impediment())
			must(t, tr.Close(t.Context()))
			if err := <-done; !errors.Is(err, rpc.ErrClosed) {
				t.Errorf("the message ended with %v", err)
			}
			for _, word := range []string{"client certificate", "ssl_cert_file", `virtual host "/"`} {
				if !strings.Contains(impediment, word) {
					t.Errorf("%q does not say %s", impediment, word)
				}
			}
		})
	}
}
