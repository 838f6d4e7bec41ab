package cli

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progress tells a person at a terminal, after a second, what a run is at. The
// line is taken away when the run ends.
type progress struct {
	files atomic.Int64
	done  chan struct{}
	ended chan struct{}
}

// quiet is how long a run says nothing.
const quiet = time.Second

// startProgress watches a run; to is nil where nobody looks.
func startProgress(to io.Writer) *progress {
	p := &progress{done: make(chan struct{}), ended: make(chan struct{})}
	if to == nil {
		close(p.ended)
		return p
	}
	go p.run(to)
	return p
}

func (p *progress) run(to io.Writer) {
	defer close(p.ended)
	ticker := time.NewTicker(quiet)
	defer ticker.Stop()
	said := false
	for {
		select {
		case <-p.done:
			if said {
				fmt.Fprint(to, "\r\x1b[K")
			}
			return
		case <-ticker.C:
			said = true
			fmt.Fprintf(to, "\r\x1b[K%d files read, looking at the servers in them", p.files.Load())
		}
	}
}

// read counts a file.
func (p *progress) read() { p.files.Add(1) }

// stop takes the line away.
func (p *progress) stop() {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	<-p.ended
}

// cleared takes the line of a progress away before anything else is written.
type cleared struct {
	*progress
	to io.Writer
}

// Write takes the line away and writes; the error is that of what is written to.
func (c cleared) Write(data []byte) (int, error) {
	c.stop()
	return c.to.Write(data)
}
