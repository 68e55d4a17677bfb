package amqp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

func tlsVersion(name string) (uint16, error) {
	switch name {
	case "", "TLSv1_2":
		return tls.VersionTLS12, nil
	case "TLSv1_3":
		return tls.VersionTLS13, nil
	}
	return 0, fmt.Errorf("use TLSv1_2 or TLSv1_3")
}

// tlsConfig reads the files of the options. They are read at every connection, so that renewed certificates are used.
func (o Options) tlsConfig(host string) (*tls.Config, error) {
	version, err := tlsVersion(o.TLSVersion)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: version, ServerName: host}
	if o.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(o.CertFile, cmp.Or(o.KeyFile, o.CertFile)) // one file may hold both, as in Python
		if err != nil {
			return nil, fmt.Errorf("ssl_cert_file or ssl_key_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if o.CAFile == "" {
		config.InsecureSkipVerify = true // as oslo.messaging: encryption alone unless a CA is given
		return config, nil
	}
	pem, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ssl_ca_file: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ssl_ca_file %s holds no certificate", o.CAFile)
	}
	return config, nil
}
