// Package parallel runs the same work on many things, on all cores.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do with each number below n, on all cores, and returns the
// error of the lowest number that has one. A panic is that of the caller.
func Each(n int, do func(int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 2 {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	failures := make([]error, n)
	var next atomic.Int64
	var fault atomic.Pointer[any]
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					fault.CompareAndSwap(nil, &cause)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n && fault.Load() == nil; i = int(next.Add(1)) - 1 {
				failures[i] = do(i)
			}
		})
	}
	working.Wait()
	if cause := fault.Load(); cause != nil {
		panic(*cause)
	}
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
