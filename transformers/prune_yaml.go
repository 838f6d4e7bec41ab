package transformers

import "strings"

// cronJob is the object as it is written.
func (v *pruneView) cronJob() mapping {
	return mapping{
		{"apiVersion", plain("batch/v1")},
		{"kind", plain("CronJob")},
		{"metadata", mapping{
			{"name", quoted(v.Name)},
			{"namespace", text(v.Namespace)},
			{"labels", append(v.labels(), texts(v.Labels)...)},
			{"annotations", append(mapping{
				{"trimtab.dev/server", quoted(v.Server)},
				{"trimtab.dev/parent", quoted(v.Parent)},
				{"trimtab.dev/tier", text(v.Tier)},
				{"trimtab.dev/keeps", text(v.Keeps)},
				{"trimtab.dev/reserves", text(v.Reserves)},
				{"trimtab.dev/rollback", quoted(v.Rollback)},
				{"trimtab.dev/runs-as-root", text(v.Root)},
				{"trimtab.dev/priority", quoted("while the disk of the node is full the kubelet admits critical pods alone")},
			}, texts(v.Annotations)...)},
		}},
		{"spec", mapping{
			{"schedule", quoted(v.Schedule)},
			{"concurrencyPolicy", plain("Forbid")},
			{"startingDeadlineSeconds", plain("3600")},
			{"successfulJobsHistoryLimit", plain("1")},
			{"failedJobsHistoryLimit", plain("3")},
			{"jobTemplate", mapping{{"spec", mapping{
				{"backoffLimit", plain("2")},
				{"activeDeadlineSeconds", plain("21600")},
				{"template", mapping{
					{"metadata", mapping{{"labels", v.labels()}}},
					{"spec", v.pod()},
				}},
			}}}},
		}},
	}
}

// labels tell a job of ours, and what it prunes.
func (v *pruneView) labels() mapping {
	return mapping{
		{"app.kubernetes.io/managed-by", plain("trimtab")},
		{"trimtab.dev/prunes", quoted(v.Prunes)},
	}
}

func (v *pruneView) pod() mapping {
	var beside mapping
	if len(v.AffinityLabels) > 0 {
		beside = mapping{{"podAffinity", mapping{{"requiredDuringSchedulingIgnoredDuringExecution", sequence{mapping{
			{"topologyKey", plain("kubernetes.io/hostname")},
			{"labelSelector", mapping{{"matchLabels", texts(v.AffinityLabels)}}},
		}}}}}}
	}
	return mapping{
		{"restartPolicy", plain("OnFailure")},
		{"automountServiceAccountToken", plain("false")},
		{"enableServiceLinks", plain("false")},
		{"priorityClassName", quoted(v.PriorityClass)},
		{"securityContext", v.user()},
		{"nodeSelector", texts(v.NodeSelector)},
		{"affinity", beside},
		{"tolerations", v.Tolerated},
		{"containers", sequence{v.container()}},
		{"volumes", sequence{mapping{
			{"name", plain("cache")},
			{"persistentVolumeClaim", mapping{{"claimName", text(v.Claim)}}},
			{"hostPath", mapping{{"path", text(v.HostPath)}}},
		}}},
	}
}

// user may remove what the server wrote.
func (v *pruneView) user() mapping {
	m := mapping{{"runAsUser", plain("0")}}
	if v.Root == "" {
		m = mapping{{"runAsNonRoot", plain("true")}, {"runAsUser", number(v.RunAsUser)}}
	}
	var fsChange plain
	if v.FSGroup != nil {
		fsChange = "OnRootMismatch"
	}
	var groups sequence
	for _, group := range v.SupplementalGroups {
		groups = append(groups, number(&group))
	}
	return append(m, mapping{
		{"runAsGroup", number(v.RunAsGroup)},
		{"fsGroup", number(v.FSGroup)},
		{"fsGroupChangePolicy", fsChange},
		{"supplementalGroups", groups},
		{"seccompProfile", mapping{{"type", plain("RuntimeDefault")}}},
	}...)
}

func (v *pruneView) container() mapping {
	var env sequence
	for _, variable := range v.Env {
		env = append(env, mapping{{"name", plain(variable[0])}, {"value", quoted(variable[1])}})
	}
	return mapping{
		{"name", plain("prune")},
		{"image", quoted(v.Image)},
		{"command", sequence{plain("/bin/sh"), plain("-c"), literal(strings.TrimRight(v.Script, "\n") + "\n")}},
		{"env", env},
		{"resources", mapping{
			{"requests", mapping{{"cpu", plain("10m")}, {"memory", plain("64Mi")}}},
			{"limits", mapping{{"memory", plain("128Mi")}}},
		}},
		{"securityContext", mapping{
			{"allowPrivilegeEscalation", plain("false")},
			{"readOnlyRootFilesystem", plain("true")},
			{"capabilities", mapping{{"drop", sequence{plain("ALL")}}}},
		}},
		{"volumeMounts", sequence{mapping{
			{"name", plain("cache")},
			{"mountPath", quoted(v.MountPath)},
			{"subPath", text(v.SubPath)},
		}}},
	}
}
