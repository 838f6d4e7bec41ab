package server

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// raySeats are the models that Ray Serve LLM starts by the configuration inside
// a RayService, a text of YAML: one server for each element of llm_configs. Its
// engine_kwargs are vLLM's options, given in Python and not on a command line.
//
// Source: ray-project/ray, python/ray/llm/_internal/serve/configs/server_models.py, LLMConfig.
func raySeats(base seat, root *yaml.Node) []seat {
	if base.object.Kind != "RayService" || !strings.HasPrefix(base.object.APIVersion, "ray.io/") {
		return nil
	}
	path := setting.Path{"spec", "serveConfigV2"}
	var document yaml.Node
	if yaml.Unmarshal([]byte(text(at(root, "spec", "serveConfigV2"))), &document) != nil || len(document.Content) != 1 {
		return nil
	}
	config := document.Content[0]
	var seats []seat
	for _, where := range expand(config, "applications.*.args.llm_configs.*") {
		model := Lookup(config, where)
		if model == nil || model.Kind != yaml.MappingNode {
			continue // the name of a file in the image
		}
		seats = append(seats, raySeat(base, root, path, where, model))
	}
	return seats
}

func raySeat(base seat, root *yaml.Node, path, where setting.Path, model *yaml.Node) seat {
	worker, podSpec := rayWorker(root)
	container := mapping("name", textNode(text(at(model, "model_loading_config", "model_id"))))
	for _, key := range []string{"image", "resources", "volumeMounts"} {
		if value := at(worker, key); value != nil {
			container = with(container, key, value)
		}
	}
	one := base.at(path, container, podSpec, nil)
	one.noEnv = true
	one.card = text(at(model, "accelerator_type"))
	source := at(model, "model_loading_config", "model_source")
	operator := setting.Origin{Kind: setting.Operator, Name: "ray"}
	one.hint = hint{
		engine: "vllm", mode: "api", operator: "ray", direct: known(false), knows: []string{anyOption},
		model: repository(orElse(text(source), text(at(model, "model_loading_config", "model_id"))), nil),
	}
	if named := text(source); named != "" {
		one.hint.before = []setting.Word{{Text: "--model", Origin: operator}, {Text: named, Origin: operator}}
	}
	for _, word := range optionWords(at(model, "engine_kwargs"), where.Join("engine_kwargs")) {
		word.Origin = setting.Origin{Kind: setting.Bound, Name: path.String() + ", " + word.Origin.String()}
		one.hint.before = append(one.hint.before, word)
	}
	return one
}

// rayWorker is the container of the only group of workers, with its pod; nil
// where there are several groups.
func rayWorker(root *yaml.Node) (container, podSpec *yaml.Node) {
	groups := at(root, "spec", "rayClusterConfig", "workerGroupSpecs")
	if groups == nil || groups.Kind != yaml.SequenceNode || len(groups.Content) != 1 {
		return nil, nil
	}
	podSpec = at(resolve(groups.Content[0]), "template", "spec")
	containers := at(podSpec, "containers")
	if containers == nil || containers.Kind != yaml.SequenceNode || len(containers.Content) == 0 {
		return nil, nil
	}
	return resolve(containers.Content[0]), podSpec
}
