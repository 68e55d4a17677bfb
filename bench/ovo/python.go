package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/go-cyborg/cyborg/ovo"
)

//go:embed peer.py
var peerScript string

// python is the Python process. It is idle while others are measured.
type python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newPython starts the script in the chroot, hands it the report and checks that its classes have the contract of ours.
func newPython(chroot string, r *ovo.Registry, body []byte) (*python, error) {
	cmd := exec.Command("chroot", chroot, "python3", "-W", "ignore", "-c", peerScript)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &python{cmd, in, bufio.NewReader(out)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var hello struct {
		Fingerprints map[string]string `json:"fingerprints"`
	}
	if err := p.ask(map[string]string{"body": string(body)}, &hello); err != nil {
		return nil, err
	}
	for name, theirs := range hello.Fingerprints {
		if ours := r.Highest(name).Fingerprint(); ours != theirs {
			return nil, fmt.Errorf("python's %s is %s, ours %s", name, theirs, ours)
		}
	}
	return p, nil
}

func (p *python) ask(question, answer any) error {
	if err := json.NewEncoder(p.in).Encode(question); err != nil {
		return fmt.Errorf("ask python: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("python says no more: %w", err)
	}
	return json.Unmarshal(line, answer)
}

// measure is [measure] in the Python process.
func (p *python) measure(d time.Duration) (sample, error) {
	var answer struct {
		Each   float64 `json:"each"`
		Length int     `json:"length"`
	}
	err := p.ask(map[string]float64{"seconds": d.Seconds()}, &answer)
	return sample{each: time.Duration(answer.Each * float64(time.Second))}, err
}

func (p *python) close() error {
	_ = p.in.Close()
	return p.cmd.Wait()
}
