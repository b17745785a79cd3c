package lax

import "net/http"

// Charge has the fields of a reply's price in the usage object of hosts that follow
// OpenAI. It is embedded in their usage types.
type Charge struct {
	Ticks  Int   `json:"cost_in_usd_ticks"` // x.ai
	Cost   Float `json:"cost"`
	BYOK   Text  `json:"is_byok"`
	CostOf Obj[struct {
		Upstream Float `json:"upstream_inference_cost"`
	}] `json:"cost_details"`
}

// usdTick is x.ai's unit of cost.
const usdTick = 1e-10

// USD returns the price in USD; nil if none is reported. A bare cost counts
// only if the host's is known to be in USD.
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

// SetKey puts a key into the host's own header if it has one, else into
// OpenAI's. Without a key it does nothing.
func SetKey(h http.Header, header, key string) {
	switch {
	case key == "":
	case header != "":
		h.Set(header, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}
