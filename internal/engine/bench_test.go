package engine

import (
	"strings"
	"testing"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

// BenchmarkLoadFacts reads all facts of an engine, as each process does once.
func BenchmarkLoadFacts(b *testing.B) {
	for b.Loop() {
		if _, err := load("sglang"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstJudgement compiles and evaluates the conditions of one setting,
// as the first server of a process does: those of no other setting compile.
func BenchmarkFirstJudgement(b *testing.B) {
	catalogued, err := catalogue.Load("sglang")
	if err != nil {
		b.Fatal(err)
	}
	known, err := load("sglang")
	if err != nil {
		b.Fatal(err)
	}
	about := setting.Setting{Name: "--pre-warm-nccl", Key: "pre_warm_nccl"}
	for b.Loop() {
		conditions.Lock()
		clear(conditions.byText)
		conditions.Unlock()
		state := NewState(catalogued, known, catalogued.Newest(), []setting.Setting{about}, facts.Set{}, "")
		if found, err := known.Judge(state, about, Inert); err != nil || len(found) != 1 {
			b.Fatal(found, err)
		}
		if n := len(conditions.byText); n > strings.Count(about.Name, "-") {
			b.Fatalf("%d conditions compiled for one setting", n)
		}
	}
}

// BenchmarkJudgement evaluates a condition that is compiled already.
func BenchmarkJudgement(b *testing.B) {
	catalogued, err := catalogue.Load("sglang")
	if err != nil {
		b.Fatal(err)
	}
	known, err := load("sglang")
	if err != nil {
		b.Fatal(err)
	}
	about := setting.Setting{Name: "--pre-warm-nccl", Key: "pre_warm_nccl"}
	for b.Loop() {
		state := NewState(catalogued, known, catalogued.Newest(), []setting.Setting{about}, facts.Set{}, "")
		if _, err := known.Judge(state, about, Inert); err != nil {
			b.Fatal(err)
		}
	}
}
