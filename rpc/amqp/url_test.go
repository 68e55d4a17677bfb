package amqp_test

import (
	"strings"
	"testing"

	"github.com/go-cyborg/cyborg/rpc/amqp"
)

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "h/v", "://h", "rabbit://h:bad/v", "rabbit://u:p#q@h/v", "rabbit://[::1/v", "rabbit://h:70000/"} {
		if _, err := amqp.ParseURL(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"rabbit://", "rabbit://u:p@h:5672,u2:p2@h2/v?ssl=1", "rabbit://u:p%40@[::1]:1/a%2Fb", "rabbit://u:p#q@h/v"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := amqp.ParseURL(text)
		if err != nil {
			if strings.Contains(text, "hunter2") && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a password: %v", err)
			}
			return
		}
		if u.VHost == "" || u.Scheme == "" {
			t.Errorf("%q: %+v", text, u)
		}
		for _, h := range u.Hosts {
			if h.Port < 0 || h.Port > 65535 || h.Address() == "" {
				t.Errorf("%q: host %+v", text, h)
			}
		}
	})
}
