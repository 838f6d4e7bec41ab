package config

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseQuantity(t *testing.T) {
	tests := []struct {
		text string
		want int64
	}{
		{"0", 0}, {"7", 7}, {"+7", 7}, {"-0", 0}, {"500M", 500_000_000}, {"500k", 500_000},
		{"32Gi", 34359738368}, {"1Ki", 1024}, {"1.5Mi", 1572864}, {"2Ti", 2 << 40}, {"1Pi", 1 << 50}, {"7Ei", 7 << 60},
		{"4.6G", 4_600_000_000}, {"1T", 1e12}, {"1P", 1e15}, {"9E", 9e18},
		{"1e9", 1_000_000_000}, {"1E9", 1_000_000_000}, {"1e+09", 1_000_000_000}, {"12e-1", 1}, {"1.5e3", 1500},
		{"5.60Gi", 6012954214}, // 6012954214.4 rounds down
		{".5Gi", 536870912}, {"5.", 5}, {"1500m", 1}, {"3000000u", 3}, {"2000000000n", 2},
		{"9223372036854775807", math.MaxInt64},
	}
	for _, test := range tests {
		q, err := ParseQuantity(test.text)
		require.NoError(t, err, test.text)
		require.Equal(t, Quantity{Text: test.text, Bytes: test.want}, q)
		require.Equal(t, test.text, q.String())
	}
}

func TestParseQuantityErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `must be a quantity such as 32Gi or 4.6G, got ""`},
		{"32 Gigs", `must be a quantity such as 32Gi or 4.6G, got "32 Gigs"`},
		{"32GB", `must be a quantity such as 32Gi or 4.6G, got "32GB"`},
		{"32GiB", `must be a quantity such as 32Gi or 4.6G, got "32GiB"`},
		{"32gi", `must be a quantity such as 32Gi or 4.6G, got "32gi"`},
		{"1K", `must be a quantity such as 32Gi or 4.6G, got "1K"`},
		{"1_000", `must be a quantity such as 32Gi or 4.6G, got "1_000"`},
		{"0x10", `must be a quantity such as 32Gi or 4.6G, got "0x10"`},
		{".", `must be a quantity such as 32Gi or 4.6G, got "."`},
		{"1.2.3", `must be a quantity such as 32Gi or 4.6G, got "1.2.3"`},
		{"1e9999", `must be a quantity such as 32Gi or 4.6G, got "1e9999"`},
		{"Gi", `must be a quantity such as 32Gi or 4.6G, got "Gi"`},
		{"-1", `must not be negative, got "-1"`},
		{"-5Gi", `must not be negative, got "-5Gi"`},
		{"8Ei", `is too large: "8Ei"`},
		{"9223372036854775808", `is too large: "9223372036854775808"`},
		{"1e999", `is too large: "1e999"`},
		{"500m", `is less than one byte: "500m"`},
		{"1e-999", `is less than one byte: "1e-999"`},
	}
	for _, test := range tests {
		_, err := ParseQuantity(test.text)
		require.EqualError(t, err, test.want)
	}
}

func FuzzParseQuantity(f *testing.F) {
	for _, seed := range []string{"32Gi", "5.60Gi", "1e9", "-1", "9E", "1e-999", ".", "500m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuantity(text)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.GreaterOrEqual(t, q.Bytes, int64(0))
		plain, err := ParseQuantity(strconv.FormatInt(q.Bytes, 10))
		require.NoError(t, err)
		require.Equal(t, q.Bytes, plain.Bytes)
	})
}
