package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms are the packages from left to right: data flows one way, so a room
// imports only rooms to its left.
var rooms = []string{
	"engines",
	"hardware",
	"internal/parallel",
	"internal/shell",
	"internal/setting", "internal/finding",
	"internal/stream",
	"internal/catalogue",
	"internal/serving",
	"internal/server",
	"internal/monitoring",
	"internal/promql",
	"internal/config",
	"internal/facts",
	"internal/argv",
	"internal/engine",
	"internal/mixin",
	"internal/ledger",
	"internal/account",
	"internal/rule",
	"validators", "transformers",
	"internal/edit",
	"internal/report",
	"internal/overlay",
	"fn",
	"fn/sdk",
	"cli",
	"",
}

func TestRoomsImportOnlyToTheLeft(t *testing.T) {
	const module = "github.com/trimtab/trimtab"
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		room := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
		if strings.HasPrefix(room, "hack/") || room == "e2e" {
			continue // tools and tests are no rooms
		}
		here := slices.Index(rooms, room)
		require.NotEqual(t, -1, here, "package %q is in no room: add it to the list where its data flows", room)
		seen++
		for _, imported := range words[1:] {
			other, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			require.Less(t, slices.Index(rooms, other), here, "%q must not import %q", room, other)
			pair := []string{room, other}
			require.False(t, slices.Contains(pair, "validators") && slices.Contains(pair, "transformers"),
				"validators and transformers never import each other")
		}
	}
	require.Equal(t, len(rooms), seen, "a room of the list has no package")
}

// The function and the files way in start no program and ask no network. What
// renders kustomizations for -k links both; it is given nothing that uses them.
func TestWhatTheFunctionMustNotLink(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./fn").Output()
	require.NoError(t, err)
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		require.NotEqual(t, "os/exec", dep, "a function starts no programs")
		require.NotEqual(t, "net/http", dep, "a function asks no network")
		require.False(t, strings.Contains(dep, "kyaml/openapi"), "the OpenAPI schema costs 80 ms and 40 MB at first use")
		require.False(t, strings.Contains(dep, "grafana-foundation-sdk"), "Grafana's types are for tests alone")
	}
}

func TestNoRoomStartsProgramsOrAsksTheNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if strings.Contains(words[0], "/hack/") || strings.HasSuffix(words[0], "/e2e") {
			continue
		}
		require.NotContains(t, words[1:], "os/exec", words[0])
		require.NotContains(t, words[1:], "net/http", words[0])
	}
}
