package report

import (
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

var (
	chat = finding.Object{APIVersion: "inference.llmkube.dev/v1alpha1", Kind: "InferenceService", Namespace: "ai", Name: "chat"}
	code = finding.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "code"}
)

func argument(index int) setting.Origin {
	return setting.Origin{Kind: setting.Argument, Path: setting.Path{"spec", "extraArgs", index}}
}

// fixture has every severity, a group, a place without a line, a skipped rule
// and a secret, in no order.
func fixture() ([]finding.Finding, []Server) {
	inert := finding.Finding{
		Rule: "inert-setting", Severity: finding.Warning, Message: "does nothing on one rank:\n  there is no all-reduce",
		Object: chat, Container: "server", Setting: "--disable-custom-all-reduce", Origin: argument(7), Value: "true",
		Action:   finding.Remove,
		Evidence: []finding.Evidence{{Engine: "sglang", Versions: ">=0.4.6", Source: "server_args.py ServerArgs"}},
		Undo:     "add it back when TP is raised",
		File:     "chat.yaml", Line: 42, Column: 9, FileIndex: 1,
	}
	dead := inert
	dead.Severity, dead.Fixed, dead.Group, dead.Line = finding.Info, true, "devices", 40
	dead.Setting, dead.Value, dead.Message, dead.Undo = "env/HIP_VISIBLE_DEVICES", "0", "the only device is 0", ""
	unknown := finding.Finding{
		Rule: "unknown-flag", Severity: finding.Error, Message: "vllm 0.11.0 does not know --foo", Object: code,
		Setting: "--foo", Origin: setting.Origin{Kind: setting.Operator, Name: "llmkube"}, Action: finding.None,
	}
	secret := finding.Finding{
		Rule: "secret-in-arguments", Severity: finding.Warning, Message: "a key stands in the arguments", Object: chat,
		Setting: "--api-key", Origin: argument(2), Value: "hunter2", Proposed: "hunter3",
		File: "chat.yaml", Line: 30, Column: 9, FileIndex: 1,
	}
	waits := finding.Finding{
		Rule: "oversized-pool", Setting: "--max-mamba-cache-size", Object: chat, Needs: []string{"workload.peakRunning"},
		File: "chat.yaml", Line: 50, Column: 9,
	}
	servers := []Server{{Object: chat, Container: "server", Engine: "sglang", Version: "0.5.16", GPU: "r9700"}}
	return []finding.Finding{inert, unknown, waits, dead, secret, waits}, servers
}
