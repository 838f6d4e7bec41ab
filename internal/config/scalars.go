package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// scalar returns the trimmed text of a scalar of one of the given tags. In the
// ConfigMap form every tag will do: kpt passes 5 and "5" alike.
func (d decoder) scalar(node *yaml.Node, tags ...string) (string, bool) {
	if node.Kind != yaml.ScalarNode || !d.flat && !slices.Contains(tags, node.ShortTag()) {
		return "", false
	}
	return strings.TrimSpace(node.Value), true
}

// text reads a word that must not be empty. A whole number will do, as in
// `name: 4090`; other plain values would not survive a host that re-encodes.
func (d decoder) text(to *string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str", "!!int")
		if !ok || !d.flat && node.ShortTag() == "!!int" && !isDecimal(s) {
			return wrong(path, "text (quote it)", node)
		}
		if s == "" {
			return fmt.Errorf("`%s` must not be empty; remove it or give it a value", path)
		}
		*to = s
		return nil
	}
}

// unbroken reads text without blanks, such as the reference of an image.
func (d decoder) unbroken(to *string) read {
	return func(node *yaml.Node, path string) error {
		var s string
		if err := d.text(&s)(node, path); err != nil {
			return err
		}
		if strings.ContainsFunc(s, unicode.IsSpace) {
			return fmt.Errorf("`%s` must hold no blank, got %q", path, s)
		}
		*to = s
		return nil
	}
}

// isDecimal refuses 010 and 0x10, which YAML versions read differently.
func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits == "0" || digits != "" && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}

// oneOf reads one of a few words; a misspelled one is answered with the
// nearest.
func (d decoder) oneOf(to *string, known ...string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str", "!!int", "!!bool", "!!float")
		if !ok {
			return wrong(path, "one of "+strings.Join(known, ", "), node)
		}
		if !slices.Contains(known, s) {
			return unknownWord(path, s, known)
		}
		*to = s
		return nil
	}
}

func unknownWord(path, word string, known []string) error {
	if near, ok := nearest(word, known); ok {
		return fmt.Errorf("`%s` is %s, which is not known; did you mean %q?", path, quote(word), near)
	}
	return fmt.Errorf("`%s` must be one of %s, got %s", path, strings.Join(known, ", "), quote(word))
}

// whole reads a whole number of at least least.
func (d decoder) whole(to **int64, least int64) read {
	return func(node *yaml.Node, path string) error {
		want := fmt.Sprintf("a whole number from %d", least)
		s, ok := d.scalar(node, "!!int")
		if !ok {
			return wrong(path, want, node)
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < least || !isDecimal(s) {
			return wrong(path, want, node)
		}
		*to = &n
		return nil
	}
}

// rate reads a number above zero.
func (d decoder) rate(to **float64) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!int", "!!float")
		if !ok {
			return wrong(path, "a number above 0", node)
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f <= 0 {
			return wrong(path, "a number above 0", node)
		}
		*to = &f
		return nil
	}
}

func (d decoder) truth(to **bool) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!bool")
		if !ok {
			return wrong(path, "true or false", node)
		}
		b, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil || len(s) < len("true") {
			return wrong(path, "true or false", node)
		}
		*to = &b
		return nil
	}
}

// leastMeant is the fewest bytes that a figure of GPU memory without a unit can
// mean: one below it forgets the unit.
const leastMeant = 1 << 20

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// quantity reads a Kubernetes quantity of at least least bytes.
func (d decoder) quantity(to **Quantity, least int64) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str", "!!int", "!!float")
		if !ok {
			return wrong(path, "a quantity such as 32Gi or 4.6G", node)
		}
		q, err := ParseQuantity(s)
		if err != nil {
			return fmt.Errorf("`%s` %w", path, err)
		}
		if q.Bytes < least {
			return fmt.Errorf("`%s` must be more than 0, got %s", path, quote(s))
		}
		if q.Bytes > 0 && q.Bytes < leastMeant && isNumber(s) {
			return fmt.Errorf("`%s` is %s bytes, which nobody means: write the unit, as in 32Gi", path, s)
		}
		*to = &q
		return nil
	}
}

// duration reads a Go duration (24h, 90m) or whole days (7d).
func (d decoder) duration(to **time.Duration) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str", "!!int")
		if !ok {
			return wrong(path, "a duration such as 24h or 7d", node)
		}
		duration, err := time.ParseDuration(s)
		if days, isDays := strings.CutSuffix(s, "d"); isDays {
			var n uint64
			n, err = strconv.ParseUint(days, 10, 16)
			duration = time.Duration(n) * 24 * time.Hour
		}
		if err != nil || duration <= 0 {
			return wrong(path, "a duration such as 24h or 7d", node)
		}
		*to = &duration
		return nil
	}
}
