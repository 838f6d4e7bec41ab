package report

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/rule"
)

func TestTheJSONIsWhatItsSchemaSays(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/report.schema.json")
	require.NoError(t, err)
	found, servers := fixture()
	for name, r := range map[string]Report{"findings": New(found, servers), "awkward": awkward(), "nothing": New(nil, nil)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WriteJSON(&b, r))
			document, err := jsonschema.UnmarshalJSON(&b)
			require.NoError(t, err)
			require.NoError(t, schema.Validate(document))
			require.Contains(t, document, "findings")
			document.(map[string]any)["more"] = true
			require.Error(t, schema.Validate(document), "the schema lets nothing unknown through")
		})
	}
	for _, name := range rule.Names() {
		require.Regexp(t, "^[a-z]+(-[a-z]+)*$", name)
	}
}
