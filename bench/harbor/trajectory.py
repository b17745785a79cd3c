"""Reads what `pawl run --output-format stream-json` printed: as an ATIF trajectory, and
what the run used. Needs only Python's own library."""

import json

SCHEMA = "ATIF-v1.6"


def read(lines):
    """Returns the events of a run and its result line, None if it was cut off."""
    events, result = [], None
    for line in lines:
        line = line.strip()
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the last line of a run that was killed
        if event.get("type") == "result":
            result = event
        elif event.get("seq"):  # pieces of an answer have none
            events.append(event)
    return events, result


def usage(events, result):
    """Returns input tokens (with those from and to caches), cached ones, output tokens and
    the cost in USD; None for what is not known."""
    if result is not None:
        return *_tokens(result.get("usage")), result.get("cost_usd")
    total, cost = [0, 0, 0], 0.0
    for e in events:
        body = e.get("body") or {}
        if e["type"] == "replied":
            used, usd = body["reply"].get("usage"), body.get("cost")
        elif e["type"] == "charged":
            used, usd = body.get("usage"), body.get("usd")
        else:
            continue
        for i, n in enumerate(_tokens(used)):
            total[i] = None if n is None or total[i] is None else total[i] + n
        cost = None if usd is None or cost is None else cost + usd
    return *total, cost


def _tokens(used):
    if not used or not used.get("known"):
        return None, None, None
    cached = used.get("cache_read", 0)
    return used.get("input", 0) + cached + used.get("cache_write", 0), cached, used.get("output", 0)


def atif(events, result):
    """Returns the run as an ATIF trajectory, None if it did not begin."""
    opened = next((e for e in events if e["type"] == "opened"), None)
    if opened is None:
        return None
    info = next((e["body"]["info"] for e in events if e["type"] == "rebased"), {})
    model = "/".join(x for x in (info.get("provider"), info.get("model")) if x)
    steps, calls = [], {}

    def add(event, source, message, **more):
        step = {"step_id": len(steps) + 1, "timestamp": event["time"], "source": source, "message": message}
        step.update((k, v) for k, v in more.items() if v)
        steps.append(step)
        return step

    for e in events:
        kind, body = e["type"], e.get("body") or {}
        if kind == "prompted":
            text = "\n\n".join(x for x in (body["text"], body.get("attached")) if x)
            add(e, "user" if body.get("source") == "person" else "system", text)
        elif kind == "noted":
            add(e, "system", body["text"])
        elif kind == "compacted" and body.get("summary"):
            add(e, "system", "[The conversation was compacted.]\n\n" + body["summary"])
        elif kind == "replied":
            parts = body["reply"]["message"]["parts"]
            asked = [p["call"] for p in parts if p["kind"] == "call"]
            step = add(
                e, "agent", _text(parts, "text"), model_name=body["reply"].get("model") or model,
                reasoning_content=_text(parts, "reasoning"),
                tool_calls=[{"tool_call_id": c["id"], "function_name": c["name"], "arguments": c["args"]} for c in asked],
                metrics=_metrics(body),
            )
            calls = {c["id"]: step for c in asked}  # ids may come again in later replies
        elif kind == "call_done" and body["id"] in calls:
            step = calls[body["id"]]
            results = step.setdefault("observation", {"results": []})["results"]
            results.append({"source_call_id": body["id"], "content": body["result"]["text"]})
    tokens, cached, output, cost = usage(events, result)
    final = {
        "total_prompt_tokens": tokens, "total_cached_tokens": cached, "total_completion_tokens": output,
        "total_cost_usd": cost, "total_steps": len(steps),
    }
    return {
        "schema_version": SCHEMA,
        "session_id": opened["session"],
        "agent": {"name": "pawl", "version": opened["body"]["pawl"], "model_name": model},
        "steps": steps,
        "final_metrics": {k: v for k, v in final.items() if v is not None},
    }


def _text(parts, kind):
    return "\n".join(p.get("text") or "" for p in parts if p["kind"] == kind)


def _metrics(body):
    tokens, cached, output = _tokens(body["reply"].get("usage"))
    out = {"prompt_tokens": tokens, "completion_tokens": output, "cached_tokens": cached, "cost_usd": body.get("cost")}
    return {k: v for k, v in out.items() if v is not None}
