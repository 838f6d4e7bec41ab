package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// store is a Prometheus with recorded series.
type store struct {
	address, dir string
	process      *exec.Cmd
}

// record puts samples into a Prometheus and starts it.
func record(samples string) (*store, error) {
	dir, err := os.MkdirTemp("", "picture-")
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir}
	data := filepath.Join(dir, "data")
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "samples.txt"), []byte(samples), 0o600),
		os.WriteFile(filepath.Join(dir, "prometheus.yaml"), []byte("global: {}\n"), 0o600),
	); err != nil {
		return nil, err
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", filepath.Join(dir, "samples.txt"), data).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("promtool: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listen := free.Addr().String()
	_ = free.Close()
	s.address = "http://" + listen
	s.process = exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+data,
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+listen)
	output, err := s.process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	log := bufio.NewScanner(output)
	for log.Scan() {
		if strings.Contains(log.Text(), "Server is ready to receive web requests") {
			go func() {
				for log.Scan() { // a full pipe would stop it
				}
			}()
			return s, nil
		}
	}
	s.close()
	return nil, errors.New("prometheus does not start")
}

func (s *store) close() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	_ = os.RemoveAll(s.dir)
}

// line is a series as it is drawn: values by point, NaN where there is none.
type line struct {
	name   string
	right  bool
	values map[int64]float64
}

// resolution is the distance of two points, in seconds.
const resolution = 60

// seriesOf are the values of all queries of a panel.
func (s *store) seriesOf(p panel) ([]line, error) {
	var lines []line
	for _, target := range p.Targets {
		query := url.Values{
			"query": {strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")},
			"start": {strconv.Itoa(started)}, "end": {strconv.Itoa(started + hours*3600)}, "step": {strconv.Itoa(resolution)},
		}
		answer, err := http.Get(s.address + "/api/v1/query_range?" + query.Encode())
		if err != nil {
			return nil, err
		}
		var body struct {
			Status, Error string
			Data          struct {
				Result []struct {
					Metric map[string]string
					Values [][2]any
				}
			}
		}
		err = json.NewDecoder(answer.Body).Decode(&body)
		_ = answer.Body.Close()
		if err != nil || body.Status != "success" {
			return nil, fmt.Errorf("%s: %w %s", target.Expr, err, body.Error)
		}
		if len(body.Data.Result) == 0 {
			return nil, fmt.Errorf("%q shows nothing: %s", p.Title, target.Expr)
		}
		for _, result := range body.Data.Result {
			one := line{name: named(target.LegendFormat, result.Metric), right: p.onTheRight(target.RefID), values: map[int64]float64{}}
			for _, value := range result.Values {
				at, _ := value[0].(float64)
				text, _ := value[1].(string)
				if number, err := strconv.ParseFloat(text, 64); err == nil && number == number {
					one.values[int64(at)] = number
				}
			}
			lines = append(lines, one)
		}
	}
	return lines, nil
}

var legendLabel = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

func named(legend string, labels map[string]string) string {
	return strings.TrimSpace(legendLabel.ReplaceAllStringFunc(legend, func(braced string) string {
		return labels[legendLabel.FindStringSubmatch(braced)[1]]
	}))
}
