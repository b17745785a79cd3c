package catalog

import (
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
)

// row is a provider. Its dialect is described in the wire API's package.
type row struct {
	name  string
	api   string   // the wire API's name
	base  string   // its address, empty if only a variable can name it
	keys  []string // variables that may hold the key, in this order
	urls  []string // variables that may hold another base URL
	model string   // the model if only the provider is named
	// models are variables that name another default model.
	models []string
	kind   kind
}

type kind int

const (
	hosted   kind = iota
	byName        // used only if named: its key belongs to another row
	anywhere      // its address is in a variable, and a key is optional
	local         // runs on this machine unless a variable has another address
	cloud         // requests are authorized by the cloud's credentials
	builtin
)

// providers is the table of providers; keys in the environment are tried in its order. A
// compatible host needs one row here and, if it differs from the default dialect, one in
// openaichat.
var providers = []row{
	{
		name: "anthropic", api: anthropic.Name, base: "https://api.anthropic.com",
		keys: []string{"ANTHROPIC_API_KEY", authToken}, urls: []string{"ANTHROPIC_BASE_URL"}, model: "claude-sonnet-5-5",
		models: claudeModels,
	},
	{
		name: "openai", api: responses.Name, base: "https://api.openai.com/v1",
		keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, model: "gpt-6.1-sol",
	},
	{
		name: "gemini", api: gemini.Name, base: "https://generativelanguage.googleapis.com",
		keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, urls: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, model: "gemini-3.8-flash",
	},
	{
		name: "openrouter", api: openaichat.Name, base: "https://openrouter.ai/api/v1",
		keys: []string{"OPENROUTER_API_KEY"}, urls: []string{"OPENROUTER_BASE_URL"}, model: "anthropic/claude-sonnet-5.5",
	},
	{
		name: "xai", api: responses.Name, base: "https://api.x.ai/v1",
		keys: []string{"XAI_API_KEY"}, urls: []string{"XAI_BASE_URL"}, model: "grok-4.5",
	},
	{
		name: "deepseek", api: openaichat.Name, base: "https://api.deepseek.com",
		keys: []string{"DEEPSEEK_API_KEY"}, urls: []string{"DEEPSEEK_BASE_URL"}, model: "deepseek-v4-pro",
	},
	{
		name: "mistral", api: openaichat.Name, base: "https://api.mistral.ai/v1",
		keys: []string{"MISTRAL_API_KEY"}, urls: []string{"MISTRAL_BASE_URL"}, model: "devstral-medium-latest",
	},
	{
		name: "groq", api: openaichat.Name, base: "https://api.groq.com/openai/v1",
		keys: []string{"GROQ_API_KEY"}, urls: []string{"GROQ_BASE_URL"}, model: "openai/gpt-oss-120b",
	},
	{
		name: "zai", api: openaichat.Name, base: "https://api.z.ai/api/paas/v4",
		keys: []string{"ZAI_API_KEY", "Z_AI_API_KEY"}, urls: []string{"ZAI_BASE_URL"}, model: "glm-5.2",
	},
	{
		name: "moonshot", api: openaichat.Name, base: "https://api.moonshot.ai/v1",
		keys: []string{"MOONSHOT_API_KEY"}, urls: []string{"MOONSHOT_BASE_URL"}, model: "kimi-k2.6",
	},
	{
		name: "cerebras", api: openaichat.Name, base: "https://api.cerebras.ai/v1",
		keys: []string{"CEREBRAS_API_KEY"}, urls: []string{"CEREBRAS_BASE_URL"}, model: "gpt-oss-120b",
	},
	{
		name: "vercel", api: openaichat.Name, base: "https://ai-gateway.vercel.sh/v1",
		keys: []string{"AI_GATEWAY_API_KEY"}, urls: []string{"AI_GATEWAY_BASE_URL"},
	},
	{
		name: "together", api: openaichat.Name, base: "https://api.together.xyz/v1",
		keys: []string{"TOGETHER_API_KEY"}, urls: []string{"TOGETHER_BASE_URL"},
	},
	{
		name: "fireworks", api: openaichat.Name, base: "https://api.fireworks.ai/inference/v1",
		keys: []string{"FIREWORKS_API_KEY"}, urls: []string{"FIREWORKS_BASE_URL"},
	},
	{
		name: "deepinfra", api: openaichat.Name, base: "https://api.deepinfra.com/v1/openai",
		keys: []string{"DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"}, urls: []string{"DEEPINFRA_BASE_URL"},
	},
	{
		name: "nebius", api: openaichat.Name, base: "https://api.studio.nebius.com/v1",
		keys: []string{"NEBIUS_API_KEY"}, urls: []string{"NEBIUS_BASE_URL"},
	},
	{
		name: "minimax", api: openaichat.Name, base: "https://api.minimax.io/v1",
		keys: []string{"MINIMAX_API_KEY"}, urls: []string{"MINIMAX_BASE_URL"},
	},
	{
		name: "qwen", api: openaichat.Name, base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
		keys: []string{"DASHSCOPE_API_KEY"}, urls: []string{"DASHSCOPE_BASE_URL"},
	},
	{
		name: "huggingface", api: openaichat.Name, base: "https://router.huggingface.co/v1",
		keys: []string{"HF_TOKEN"}, urls: []string{"HF_BASE_URL"}, kind: byName, // set for downloads on many machines
	},
	{
		name: bedrockName, api: anthropic.Name, kind: cloud,
		keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, urls: []string{"ANTHROPIC_BEDROCK_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"},
		model: "claude-sonnet-5-5", models: claudeModels,
	},
	{
		name: vertexName, api: anthropic.Name, kind: cloud, urls: []string{"ANTHROPIC_VERTEX_BASE_URL"},
		model: "claude-sonnet-5-5", models: claudeModels,
	},
	{
		name: foundryName, api: anthropic.Name, keys: []string{"ANTHROPIC_FOUNDRY_API_KEY"},
		urls: []string{"ANTHROPIC_FOUNDRY_BASE_URL", foundryResource}, model: "claude-sonnet-5-5", models: claudeModels,
	},
	{
		name: "azure", api: responses.Name, models: azureModels,
		keys: []string{"AZURE_OPENAI_API_KEY", azureToken}, urls: []string{"AZURE_OPENAI_BASE_URL", azureEndpoint},
	},
	{
		name: "azure-chat", api: openaichat.Name, kind: byName, models: azureModels,
		keys: []string{"AZURE_OPENAI_API_KEY", azureToken}, urls: []string{"AZURE_OPENAI_BASE_URL", azureEndpoint},
	},
	{
		name: "openai-chat", api: openaichat.Name, base: "https://api.openai.com/v1", kind: byName,
		keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, model: "gpt-6.1-sol",
	},
	{
		name: "openai-responses", api: responses.Name, base: "https://api.openai.com/v1", kind: byName,
		keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, model: "gpt-6.1-sol",
	},
	{
		name: "xai-chat", api: openaichat.Name, base: "https://api.x.ai/v1", kind: byName,
		keys: []string{"XAI_API_KEY"}, urls: []string{"XAI_BASE_URL"}, model: "grok-4.5",
	},
	{name: compatible, api: openaichat.Name, keys: []string{"PAWL_API_KEY"}, urls: []string{"PAWL_BASE_URL"}, kind: anywhere},
	{
		name: "ollama", api: ollama.Name, base: "http://127.0.0.1:11434",
		keys: []string{"OLLAMA_API_KEY"}, urls: []string{ollamaHost}, kind: local,
	},
	{
		name: "lmstudio", api: openaichat.Name, base: "http://127.0.0.1:1234/v1",
		keys: []string{"LMSTUDIO_API_KEY"}, urls: []string{"LMSTUDIO_BASE_URL"}, kind: local,
	},
	{
		name: "llamacpp", api: openaichat.Name, base: "http://127.0.0.1:8080/v1",
		keys: []string{"LLAMACPP_API_KEY", "LLAMA_API_KEY"}, urls: []string{"LLAMACPP_BASE_URL"}, model: "default", kind: local,
	},
	{
		name: "vllm", api: openaichat.Name, base: "http://127.0.0.1:8000/v1",
		keys: []string{"VLLM_API_KEY"}, urls: []string{"VLLM_BASE_URL"}, kind: local,
	},
	{name: offlineName, api: offlineName, model: offlineName, kind: builtin},
}

// Names with special handling in the code.
const (
	offlineName   = "offline"
	compatible    = "openai-compatible"
	authToken     = "ANTHROPIC_AUTH_TOKEN"
	azureEndpoint = "AZURE_OPENAI_ENDPOINT"
	ollamaHost    = "OLLAMA_HOST"

	foundryResource = "ANTHROPIC_FOUNDRY_RESOURCE"
)

// The variables that name the model for other agents, too.
var (
	claudeModels = []string{"ANTHROPIC_MODEL"}
	azureModels  = []string{"AZURE_OPENAI_DEPLOYMENT", "AZURE_OPENAI_DEPLOYMENT_NAME"}
)

// alias returns the provider's name for another name that people use.
func alias(name string) string {
	switch name {
	case "google", "google-gemini":
		return "gemini"
	case "claude":
		return "anthropic"
	case "grok", "x.ai":
		return "xai"
	case "z.ai", "zhipu":
		return "zai"
	case "kimi", "moonshotai":
		return "moonshot"
	case "lm-studio":
		return "lmstudio"
	case "llama.cpp", "llama-cpp":
		return "llamacpp"
	case "hf":
		return "huggingface"
	case "aws", "amazon-bedrock", "aws-bedrock":
		return bedrockName
	case "vertexai", "vertex-ai", "google-vertex", "google-vertex-anthropic":
		return vertexName
	case "azure-openai":
		return "azure"
	case "azure-foundry", "microsoft-foundry":
		return foundryName
	case "openai-compat", "compatible":
		return compatible
	}
	return name
}

func find(name string) (row, bool) {
	name = alias(name)
	for _, r := range providers {
		if r.name == name {
			return r, true
		}
	}
	return row{}, false
}

// dialectName returns the provider under whose name the dialect is registered.
func (r row) dialectName() string {
	switch r.name {
	case "openai-chat", "openai-responses":
		return "openai"
	case "azure-chat":
		return "azure"
	case "xai-chat":
		return "xai"
	}
	return r.name
}

// Provider returns the name of a provider, found by any of its names, and the variables
// that may hold its key.
func Provider(name string) (_ string, keys []string, ok bool) {
	r, ok := find(name)
	if !ok || r.kind == builtin {
		return name, nil, false
	}
	return r.name, r.keys, true
}

// KeyNames returns every variable that may hold a key: their values must never be shown
// or passed on.
func KeyNames() []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range providers {
		for _, k := range r.keys {
			if !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	return out
}

// SecretNames returns every variable whose value must never be shown: KeyNames, and the
// credentials of clouds, which other programs need too.
func SecretNames() []string {
	return append(KeyNames(), "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN")
}
