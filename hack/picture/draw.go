package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// The picture's measures in pixels.
const (
	column    = 60 // one of Grafana's 24
	rowUnit   = 26 // one of Grafana's rows
	plotLeft  = 52
	plotRight = 40
	plotTop   = 30
	plotFoot  = 42
)

var colours = []string{"#3274d9", "#e0752d", "#56a64b", "#8f3bb8", "#c4162a"}

// canvas holds the panels that are drawn.
type canvas struct {
	body   strings.Builder
	height int
}

func (c *canvas) add(p panel, lines []line) {
	x, y, w, h := p.GridPos.X*column, p.GridPos.Y*rowUnit, p.GridPos.W*column, p.GridPos.H*rowUnit
	c.height = max(c.height, y+h)
	if p.Type == "row" {
		fmt.Fprintf(&c.body, `<text x="%d" y="%d" class="row">%s</text>`+"\n", x+6, y+19, html.EscapeString(p.Title))
		return
	}
	fmt.Fprintf(&c.body, `<g transform="translate(%d,%d)"><rect x="3" y="3" width="%d" height="%d" class="panel"/><text x="12" y="20" class="title">%s</text>`+"\n",
		x, y, w-6, h-6, html.EscapeString(p.Title))
	c.plot(p, lines, w, h)
	c.body.WriteString("</g>\n")
}

func (c *canvas) plot(p panel, lines []line, w, h int) {
	left, right := axis{unit: p.FieldConfig.Defaults.Unit}, axis{unit: "percentunit"}
	bound := math.NaN()
	for _, step := range p.FieldConfig.Defaults.Thresholds.Steps {
		if step.Value != nil {
			bound = *step.Value
			left.hold(bound * 1.05)
		}
	}
	for _, one := range lines {
		for _, value := range one.values {
			if one.right {
				right.hold(value)
			} else {
				left.hold(value)
			}
		}
	}
	left.top, right.top = niceTop(left.top), niceTop(right.top)
	if most := p.FieldConfig.Defaults.Max; most != nil {
		left.top = *most
	}
	width, height := float64(w-plotLeft-plotRight), float64(h-plotTop-plotFoot)
	place := func(at int64, value, top float64) (float64, float64) {
		return plotLeft + width*float64(at-started)/(hours*3600), plotTop + height*(1-value/top)
	}
	for i := range 5 {
		value := left.top * float64(i) / 4
		_, y := place(started, value, left.top)
		fmt.Fprintf(&c.body, `<path d="M%d %.1fH%d" class="grid"/><text x="%d" y="%.1f" class="tick" text-anchor="end">%s</text>`+"\n",
			plotLeft, y, w-plotRight, plotLeft-5, y+3, left.text(value))
		if right.seen {
			fmt.Fprintf(&c.body, `<text x="%d" y="%.1f" class="tick">%s</text>`+"\n", w-plotRight+4, y+3, right.text(right.top*float64(i)/4))
		}
	}
	for minutes := 0; minutes <= hours*60; minutes += 30 {
		x, _ := place(started+int64(minutes)*60, 0, 1)
		fmt.Fprintf(&c.body, `<text x="%.1f" y="%d" class="tick" text-anchor="middle">%02d:%02d</text>`+"\n", x, h-plotFoot+13, minutes/60, minutes%60)
	}
	if bound == bound {
		_, y := place(started, bound, left.top)
		fmt.Fprintf(&c.body, `<path d="M%d %.1fH%d" class="bound"/>`+"\n", plotLeft, y, w-plotRight)
	}
	legend := 12
	for i, one := range lines {
		top := left.top
		if one.right {
			top = right.top
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(&c.body, `<path d="%s" stroke="%s" class="line"/>`+"\n", pathOf(one, func(at int64, v float64) (float64, float64) { return place(at, v, top) }), colour)
		name := cmp.Or(one.name, "value")
		fmt.Fprintf(&c.body, `<rect x="%d" y="%d" width="10" height="3" fill="%s"/><text x="%d" y="%d" class="tick">%s</text>`+"\n", legend, h-17, colour, legend+14, h-12, html.EscapeString(name))
		legend += 24 + 6*len(name)
	}
}

// pathOf draws the points that there are; a gap stays a gap.
func pathOf(one line, place func(int64, float64) (float64, float64)) string {
	var b strings.Builder
	pen := "M"
	for at := int64(started); at <= started+hours*3600; at += resolution {
		value, ok := one.values[at]
		if !ok {
			pen = "M"
			continue
		}
		x, y := place(at, value)
		fmt.Fprintf(&b, "%s%.0f %.1f", pen, x, y)
		pen = "L"
	}
	return b.String()
}

// axis is one of the two of a panel.
type axis struct {
	unit string
	top  float64
	seen bool
}

func (a *axis) hold(value float64) { a.top, a.seen = math.Max(a.top, value), true }

func (a *axis) text(value float64) string {
	switch {
	case a.unit == "percentunit":
		return strconv.FormatFloat(100*value, 'f', -1, 64) + "%"
	case value >= 10000:
		return strconv.FormatFloat(value/1000, 'f', -1, 64) + " K"
	case a.unit == "s" && value > 0 && value < 1:
		return strconv.FormatFloat(1000*value, 'f', -1, 64) + " ms"
	case a.unit == "s":
		return strconv.FormatFloat(value, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(value, 'g', 4, 64)
}

// niceTop is a round number that is not below a value.
func niceTop(value float64) float64 {
	if value <= 0 {
		return 1
	}
	scale := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{1, 2, 4, 6, 8, 10} {
		if step*scale >= value {
			return step * scale
		}
	}
	return 10 * scale
}

func (c *canvas) svg(caption string) string {
	const head = 34
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">
<style>.panel{fill:#fff;stroke:#d0d4da}.title{font-size:13px;font-weight:600;fill:#24292e}.row{font-size:14px;font-weight:600;fill:#52545c}.tick{font-size:10px;fill:#6e7075}.grid{stroke:#eceef0;fill:none}.bound{stroke:#e02f44;stroke-dasharray:5 3;fill:none}.line{fill:none;stroke-width:1.4}.caption{font-size:13px;fill:#24292e}</style>
<rect width="100%%" height="100%%" fill="#f4f5f7"/>
<text x="8" y="22" class="caption">%s</text>
<g transform="translate(0,%d)">
%s</g>
</svg>
`, 24*column, c.height+head+6, html.EscapeString(caption), head, c.body.String())
}
