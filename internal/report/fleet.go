package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/trimtab/trimtab/internal/ledger"
)

// FleetServer is one server of a fleet.
type FleetServer struct {
	Server
	File string `json:"file"`
	// KVTokens is the size of the KV pool in tokens, Ceiling the requests that can
	// run at once; nil where a fact is missing (plan says which).
	KVTokens *int64 `json:"kvTokens"`
	Ceiling  *int64 `json:"ceiling"`
	// Dead are the settings without effect.
	Dead     []string `json:"dead"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
}

var fleetHead = []string{"server", "engine", "version", "gpu", "KV tokens", "ceiling", "dead", "errors", "warnings"}

func (s FleetServer) cells() []string {
	name := objectName(s.Object)
	if s.Container != "" {
		name += " " + printable(s.Container)
	}
	return []string{
		name, s.Engine, s.Version, orUnknown(s.GPU), grouped(s.KVTokens), grouped(s.Ceiling),
		strconv.Itoa(len(s.Dead)), strconv.Itoa(s.Errors), strconv.Itoa(s.Warnings),
	}
}

func grouped(n *int64) string {
	if n == nil {
		return orUnknown("")
	}
	return ledger.Grouped(*n)
}

func orUnknown(text string) string {
	if text == "" {
		return "?"
	}
	return printable(text)
}

// WriteFleet prints a fleet as a table with a line of sums. It returns the error
// of the writer.
func WriteFleet(w io.Writer, fleet []FleetServer) error {
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(fleetHead, "\t"))
	for _, s := range fleet {
		fmt.Fprintln(table, strings.Join(s.cells(), "\t"))
	}
	_ = table.Flush() // to a buffer
	fmt.Fprintln(&b, fleetSums(fleet))
	_, err := w.Write(b.Bytes())
	return err
}

// WriteFleetMarkdown prints a fleet as a Markdown table. It returns the error of
// the writer.
func WriteFleetMarkdown(w io.Writer, fleet []FleetServer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(fleetHead, " | "), strings.Repeat(" --- |", len(fleetHead)))
	for _, s := range fleet {
		cells := s.cells()
		for i := range cells {
			cells[i] = escapeMarkdown(cells[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprintf(&b, "\n%s\n", fleetSums(fleet))
	_, err := w.Write(b.Bytes())
	return err
}

func fleetSums(fleet []FleetServer) string {
	var sums Summary
	dead := 0
	for _, s := range fleet {
		sums.Error, sums.Warning, dead = sums.Error+s.Errors, sums.Warning+s.Warnings, dead+len(s.Dead)
	}
	return fmt.Sprintf("%s, %s, %s, %s", count(len(fleet), "server"), count(dead, "dead setting"), count(sums.Error, "error"), count(sums.Warning, "warning"))
}
