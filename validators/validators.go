// Package validators says what is wrong: one file per rule, named as the rule.
// A rule looks at a server's settings and facts and returns findings that say
// what would be right; it changes nothing.
package validators

import "github.com/trimtab/trimtab/internal/rule"

// All returns the rules in the order in which they run.
func All() []rule.Rule {
	return []rule.Rule{
		unknownFlag(),
		removedFlag(),
		deprecatedFlag(),
		abbreviatedFlag(),
		badValue(),
		missingOption(),
		unreadableVariable(),
		repeatedSetting(),
		shadowedSetting(),
		deadEnv(),
		unexpandedValue(),
		substitutionHazard(),
		secretInArguments(),
		inertSetting(),
		restatedDefault(),
		clampedSetting(),
		overriddenSetting(),
		loadBearingSetting(),
		conflictingSettings(),
		unsupportedOnGPU(),
		retargetedSetting(),
		gpuMismatch(),
		rolesDisagree(),
		probeUnfit(),
		shmTooSmall(),
		memoryRequestTooSmall(),
		oversizedPool(),
		prefillStarvation(),
		kvOvercommit(),
		slowCacheLookup(),
		unprunedCache(),
		unversionedCache(),
		volumeTooSmall(),
		factsDisagree(),
		unknownVersion(),
	}
}

// OfVersions returns the rules whose findings depend on the engine's version
// alone: what it refuses, warns of, ignores or replaces.
func OfVersions() []rule.Rule {
	return []rule.Rule{
		unknownFlag(),
		removedFlag(),
		deprecatedFlag(),
		badValue(),
		missingOption(),
		deadEnv(),
		inertSetting(),
		overriddenSetting(),
		clampedSetting(),
		conflictingSettings(),
		unsupportedOnGPU(),
	}
}
