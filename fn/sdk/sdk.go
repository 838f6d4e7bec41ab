// Package sdk offers the pipeline to people who compose functions with
// kpt-functions-sdk: a Processor is a fn.ResourceListProcessor. It is a package
// of its own so that the trimtab binary does not link the SDK.
package sdk

import (
	"fmt"

	kpt "github.com/GoogleContainerTools/kpt-functions-sdk/go/fn"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/promql"
)

// Processor runs trimtab on a ResourceList, configured by its functionConfig.
type Processor struct{}

// Process trims or verifies the items and adds the findings to the results. The
// boolean is false when a finding remains at or above failOn; the list is
// complete all the same. Errors leave the list as it was.
func (Processor) Process(list *kpt.ResourceList) (bool, error) {
	input, err := list.ToYAML()
	if err != nil {
		return false, fmt.Errorf("the ResourceList cannot be written: %w", err)
	}
	output, failed, err := fn.Run(input, promql.Parse)
	if err != nil {
		return false, err
	}
	done, err := kpt.ParseResourceList(output)
	if err != nil {
		return false, fmt.Errorf("the trimmed ResourceList cannot be read: %w", err)
	}
	list.Items, list.Results = done.Items, done.Results
	return !failed, nil
}
