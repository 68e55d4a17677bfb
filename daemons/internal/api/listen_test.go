package api

import (
	"net"
	"strings"
	"testing"
)

func TestNoAuthStaysOnThisHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1": true, "::1": true, "0.0.0.0": false, "192.0.2.7": false} {
		err := CheckListener(NoAuth(), &net.TCPAddr{IP: net.ParseIP(address), Port: 6666})
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && !strings.Contains(err.Error(), "auth_strategy") {
			t.Errorf("error %v does not say what to do", err)
		}
	}
	if err := CheckListener(recordedPersonas(), &net.TCPAddr{IP: net.IPv4zero}); err != nil {
		t.Errorf("an API with tokens is refused: %v", err)
	}
}
