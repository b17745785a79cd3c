package lax

import "net/http"

// Charge contains the price fields in the usage object of hosts that follow OpenAI. It is
// embedded in their usage types.
type Charge struct {
	Ticks  Int   `json:"cost_in_usd_ticks"` // x.ai
	Cost   Float `json:"cost"`
	BYOK   Text  `json:"is_byok"`
	CostOf Obj[struct {
		Upstream Float `json:"upstream_inference_cost"`
	}] `json:"cost_details"`
}

// usdTick is x.ai's unit of cost, in USD.
const usdTick = 1e-10

// USD returns the price in USD; nil if none is reported. inUSD is whether the host's bare
// cost is known to be in USD; otherwise that cost is not used.
func (c Charge) USD(inUSD bool) *float64 {
	usd := c.Cost.F
	switch {
	case c.Ticks > 0:
		usd = float64(c.Ticks) * usdTick
	case !inUSD || !c.Cost.OK:
		return nil
	case c.BYOK == "true": // the host's fee; the model itself was paid with the person's own key
		usd += c.CostOf.V.Upstream.F
	}
	return &usd
}

// SetKey sets a key in the host's own header if it has one, else in OpenAI's. Without a
// key it does nothing.
func SetKey(h http.Header, header, key string) {
	switch {
	case key == "":
	case header != "":
		h.Set(header, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}
