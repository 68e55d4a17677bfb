package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// caller is one competitor: call makes one round trip.
type caller struct {
	name  string
	call  func(ctx context.Context) error
	close func()
}

// callerCounts are the numbers of concurrent callers measured.
var callerCounts = []int{1, 16, 64}

// payload is about what report and ARQ messages carry: 1.2 kB there, 0.4 kB back.
var (
	requestText = strings.Repeat("x", 550)
	replyText   = strings.Repeat("y", 250)
)

func main() {
	url := flag.String("url", "rabbit://guest:guest@127.0.0.1:5672/", "transport_url of a real RabbitMQ")
	peer := flag.String("peer", "", "chroot with Python's oslo.messaging; empty = leave Python out")
	rounds := flag.Int("rounds", 5, "rounds; medians are reported")
	seconds := flag.Float64("seconds", 2, "seconds of one measurement")
	flag.Parse()
	if err := run(*url, *peer, *rounds, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, "bench rpc:", err)
		os.Exit(1)
	}
}

// result is one line of output: calls per second and CPU microseconds per call of this process.
type result struct {
	Name      string  `json:"name"`
	Callers   int     `json:"callers"`
	PerSecond float64 `json:"calls_per_second"`
	ClientCPU float64 `json:"client_cpu_us,omitempty"`
	ServerCPU float64 `json:"server_cpu_us,omitempty"`
}

func run(url, peer string, rounds int, d time.Duration) error {
	ctx := context.Background()
	ours, err := newOurs(ctx, url, "bench-go")
	if err != nil {
		return err
	}
	defer ours.close()
	bare, err := newBare(url)
	if err != nil {
		return err
	}
	defer bare.close()
	results := map[string][]result{}
	add := func(r result) {
		key := fmt.Sprintf("%s/%d", r.Name, r.Callers)
		results[key] = append(results[key], r)
	}
	for range rounds {
		for _, n := range callerCounts {
			for _, c := range []caller{bare, ours} {
				r, err := measure(ctx, c, n, d)
				if err != nil {
					return err
				}
				add(r)
			}
			if peer == "" {
				continue
			}
			if err := pythonRound(ctx, url, peer, n, d, add); err != nil {
				return err
			}
		}
	}
	return report(results)
}

// measure runs n callers for d.
func measure(ctx context.Context, c caller, n int, d time.Duration) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, d+30*time.Second)
	defer cancel()
	begin, cpu := time.Now(), cpuTime()
	end := begin.Add(d)
	counts, errs := make(chan int, n), make(chan error, n)
	for range n {
		go func() {
			calls := 0
			for time.Now().Before(end) {
				if err := c.call(ctx); err != nil {
					errs <- fmt.Errorf("%s: %w", c.name, err)
					return
				}
				calls++
			}
			counts <- calls
		}()
	}
	total := 0
	for range n {
		select {
		case calls := <-counts:
			total += calls
		case err := <-errs:
			return result{}, err
		}
	}
	elapsed, used := time.Since(begin).Seconds(), cpuTime()-cpu
	return result{
		Name: c.name, Callers: n, PerSecond: float64(total) / elapsed,
		ClientCPU: float64(used.Microseconds()) / float64(max(total, 1)),
	}, nil
}

// report prints the median of each competitor, one JSON object a line.
func report(results map[string][]result) error {
	keys := make([]string, 0, len(results))
	for k := range results {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := json.NewEncoder(os.Stdout)
	for _, k := range keys {
		rs := results[k]
		slices.SortFunc(rs, func(a, b result) int {
			if a.PerSecond < b.PerSecond {
				return -1
			}
			return 1
		})
		if err := out.Encode(rs[len(rs)/2]); err != nil {
			return err
		}
	}
	return nil
}
