package parallel

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	const n = 100
	var done [n]atomic.Int32
	require.NoError(t, Each(n, func(i int) error { done[i].Add(1); return nil }))
	for i := range done {
		require.Equal(t, int32(1), done[i].Load(), "%d", i)
	}
	err := Each(n, func(i int) error {
		if i%10 == 7 {
			return fmt.Errorf("number %d", i)
		}
		return nil
	})
	require.EqualError(t, err, "number 7")
	require.PanicsWithError(t, "broken", func() {
		_ = Each(n, func(int) error { panic(errors.New("broken")) })
	})
	require.NoError(t, Each(0, nil))
}
