package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesPageIsNotStale(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	require.Equal(t, rules(), string(page), "run `make docs`")
}
