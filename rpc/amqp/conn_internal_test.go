package amqp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// method is a frame of channel 0.
func method(class, id uint16, arguments string) []byte {
	frame := []byte{1, 0, 0}
	frame = binary.BigEndian.AppendUint32(frame, uint32(4+len(arguments)))
	frame = binary.BigEndian.AppendUint16(frame, class)
	frame = binary.BigEndian.AppendUint16(frame, id)
	return append(append(frame, arguments...), 0xCE)
}

// TestBrokenLogInIsNoRefusal: a broker that is slow or goes away in the middle of the log-in is not one that refuses the user.
func TestBrokenLogInIsNoRefusal(t *testing.T) {
	t.Parallel()
	start := method(10, 10, "\x00\x09"+"\x00\x00\x00\x00"+"\x00\x00\x00\x0eAMQPLAIN PLAIN"+"\x00\x00\x00\x05en_US")
	tune := method(10, 30, "\x00\x00"+"\x00\x02\x00\x00"+"\x00\x3c")
	for name, broker := range map[string]func(net.Conn){
		"slow": func(c net.Conn) {
			c.Write(start)
			io.Copy(io.Discard, c)
		},
		"cut": func(c net.Conn) {
			c.Write(start)
			c.Write(tune)
			var read []byte
			for open := method(10, 40, "")[7:11]; !bytes.Contains(read, open); {
				buffer := make([]byte, 4096)
				n, err := c.Read(buffer)
				if err != nil {
					t.Error(err)
					return
				}
				read = append(read, buffer[:n]...)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c, err := l.Accept()
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				broker(c)
			}()
			port := l.Addr().(*net.TCPAddr).Port
			config, err := Config{URL: "rabbit://u:p@127.0.0.1:" + strconv.Itoa(port) + "/", OpTimeout: time.Second}.resolve()
			if err != nil {
				t.Fatal(err)
			}
			_, err = dial(t.Context(), &config, config.url.brokers()[0], "publish")
			<-ended
			l.Close()
			if _, refused := errors.AsType[*loginError](err); err == nil || refused {
				t.Errorf("told as %v", err)
			} else {
				t.Log(err)
			}
		})
	}
}
