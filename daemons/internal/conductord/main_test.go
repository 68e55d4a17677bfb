package conductord_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// serveEnv makes the test binary a conductor that can be killed: CONFIG-FILE of it.
const serveEnv = "CYBORG_TEST_CONDUCTOR_CONFIG"

func TestMain(m *testing.M) {
	if file := os.Getenv(serveEnv); file != "" {
		if err := serveLab(context.Background(), file, func() { fmt.Println("ready") }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
