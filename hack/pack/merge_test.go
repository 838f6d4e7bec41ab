package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// before takes the newest release out of the lines of a file, and gives what an
// extractor would have written of it.
func before(t *testing.T, file string, embedded [][]byte) (older [][]byte, r release) {
	t.Helper()
	full, err := Expand(embedded)
	require.NoError(t, err)
	header, entries, err := decodeAll(full)
	require.NoError(t, err)
	var releases []string
	require.NoError(t, json.Unmarshal(header["releases"], &releases))
	newest, last := releases[len(releases)-1], releases[len(releases)-2]
	header["releases"] = compact(releases[:len(releases)-1])
	r.Engine, r.Version = text(header["engine"]), newest
	if header["dates"] != nil {
		var dates object
		require.NoError(t, json.Unmarshal(header["dates"], &dates))
		r.Date = text(dates[newest])
		delete(dates, newest)
		header["dates"] = write(dates, releases...)
	}
	older = [][]byte{write(header)}
	_, name := r.of(file)
	var found []object
	for _, entry := range entries {
		lives, err := livesOf(entry)
		require.NoError(t, err)
		if end := lives[len(lives)-1]; end["until"] == nil {
			life := object{}
			for field, value := range end {
				if field != "since" {
					life[field] = value
				}
			}
			now := object{name: entry[name], "life": write(life)}
			if end["names"] != nil {
				now["names"] = end["names"]
			}
			found = append(found, now)
		}
		lives = slices.DeleteFunc(lives, func(life object) bool { return text(life["since"]) == newest })
		if len(lives) == 0 {
			continue
		}
		if end := lives[len(lives)-1]; text(end["until"]) == last {
			delete(end, "until")
		}
		entry["lives"] = written(lives)
		if entry["names"] != nil {
			entry["names"] = compact(slices.DeleteFunc(spellings(entry), func(name string) bool {
				return !slices.ContainsFunc(lives, func(life object) bool { return slices.Contains(spellings(life), name) })
			}))
		}
		older = append(older, write(entry))
	}
	switch file {
	case "options":
		r.Options = found
	case "env":
		r.Env = found
	default:
		r.Metrics = found
	}
	older, err = Pack(file, older)
	require.NoError(t, err)
	return older, r
}

// forgetsKind tells whether the newest life of a variable does not say how it is
// read, which the one before said.
func forgetsKind(t *testing.T, header, line []byte) bool {
	t.Helper()
	full, err := Expand([][]byte{header, line})
	require.NoError(t, err)
	_, entries, err := decodeAll(full)
	require.NoError(t, err)
	if len(entries) == 0 {
		return false
	}
	lives, err := livesOf(entries[0])
	require.NoError(t, err)
	n := len(lives)
	return n > 1 && string(lives[n-1]["kind"]) == "null" && string(lives[n-2]["kind"]) != "null"
}

// Merging the newest release into the files without it gives the files back.
func TestMergeOfTheNewestReleaseGivesTheFilesBack(t *testing.T) {
	for _, engine := range packedEngines {
		for _, file := range packedFiles {
			t.Run(engine+" "+file, func(t *testing.T) {
				embedded := readLines(t, filepath.Join(root, "engines", engine, file+".jsonl"))
				older, r := before(t, file, embedded)
				require.NotEqual(t, len(releasesOf(t, embedded[0])), len(releasesOf(t, older[0])))
				merged, err := Merge(file, older, r)
				require.NoError(t, err)
				require.Equal(t, len(embedded), len(merged))
				for i := range merged {
					if file == "env" && i > 0 && forgetsKind(t, embedded[0], embedded[i]) {
						continue // what is known of a variable stays known
					}
					require.Equal(t, string(embedded[i]), string(merged[i]))
				}
			})
		}
	}
}

// Of a release in which nothing changes only the header tells.
func TestMergeOfAnEqualReleaseChangesTheHeaderAlone(t *testing.T) {
	embedded := readLines(t, filepath.Join(root, "engines", "vllm", "options.jsonl"))
	_, r := before(t, "options", embedded)
	r.Version, r.Date = "99.0.0", "2030-01-02"
	merged, err := Merge("options", embedded, r)
	require.NoError(t, err)
	require.Contains(t, string(merged[0]), `"99.0.0"]`)
	require.Contains(t, string(merged[0]), `"99.0.0":"2030-01-02"`)
	require.Equal(t, embedded[1:], merged[1:])
}

func TestMergeFollowsOptionsByTheirSpellings(t *testing.T) {
	old := [][]byte{
		[]byte(`{"engine":"e","releases":["1","2"]}`),
		[]byte(`{"flag":"--json","names":["--json"],"lives":[{"since":"1","names":["--json"],"action":"store","type":"json","nargs":null,"choices":null,"open":true,"default":null,"deprecated":false}]}`),
		[]byte(`{"flag":"--old","names":["--old"],"lives":[{"since":"1","names":["--old"],"action":"store","type":"int","nargs":null,"choices":null,"open":false,"default":1,"deprecated":false}]}`),
		[]byte(`{"flag":"--was","names":["--was"],"lives":[{"since":"1","names":["--was"],"action":"store","type":"int","nargs":null,"choices":null,"open":false,"default":1,"deprecated":false}]}`),
	}
	packed, err := Pack("options", old)
	require.NoError(t, err)
	life := func(names, kind string) json.RawMessage {
		return json.RawMessage(`{"names":` + names + `,"action":"store","type":"` + kind + `","nargs":null,"choices":null,"open":false,"default":1,"deprecated":false,"more":1}`)
	}
	merged, err := Merge("options", packed, release{Engine: "e", Version: "3", Options: []object{
		{"flag": json.RawMessage(`"--json"`), "names": json.RawMessage(`["--json"]`), "life": life(`["--json"]`, "str")},
		{"flag": json.RawMessage(`"--new"`), "names": json.RawMessage(`["--new","--old"]`), "life": life(`["--new","--old"]`, "int")},
		{"flag": json.RawMessage(`"--other"`), "names": json.RawMessage(`["--other"]`), "life": life(`["--other"]`, "int")},
	}})
	require.NoError(t, err)
	full, err := Expand(merged)
	require.NoError(t, err)
	require.JSONEq(t, `{"flag":"--json","names":["--json"],"lives":[
		{"since":"1","until":"2","names":["--json"],"action":"store","type":"json","nargs":null,"choices":null,"open":true,"default":null,"deprecated":false},
		{"since":"3","names":["--json"],"action":"store","type":"json","nargs":null,"choices":null,"open":true,"default":1,"deprecated":false}]}`,
		string(full[1]), "what no parser tells is carried over")
	require.JSONEq(t, `{"flag":"--new","names":["--new","--old"],"lives":[
		{"since":"1","until":"2","names":["--old"],"action":"store","type":"int","nargs":null,"choices":null,"open":false,"default":1,"deprecated":false},
		{"since":"3","names":["--new","--old"],"action":"store","type":"int","nargs":null,"choices":null,"open":false,"default":1,"deprecated":false}]}`,
		string(full[2]), "an option goes on under a new name")
	require.Contains(t, string(full[3]), `"since":"3"`)
	require.Contains(t, string(full[4]), `"until":"2"`, "what is not there any more ends")
}

func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	packed := [][]byte{[]byte(`{"engine":"e","releases":["1"],"common":{},"derived":[]}`), []byte(`{"env":"A","lives":[{"since":"1"}]}`)}
	for _, r := range []release{{Engine: "e", Version: "1"}, {Engine: "f", Version: "2"}, {Engine: "e", Version: "2"}} {
		_, err := Merge("env", packed, r)
		require.Error(t, err)
	}
}
