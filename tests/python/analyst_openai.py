"""OpenAI's own client against the Analyst door: `analyst_openai.py URL TOKEN CASE...`, prints JSON."""

import json
import sys

import openai

url, token, *wanted = sys.argv[1:]
MODEL = "claude-da/analyst"
QUESTION = [{"role": "user", "content": "How many customers are there per tier?"}]
# The planner takes SQL that the user wrote; this takes as long as it may.
ENDLESS = "run sql: WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r"


def client(**given):
    return openai.OpenAI(**{"base_url": f"{url}/v1", "api_key": token, "max_retries": 0, "timeout": 60} | given)


def ask(messages=QUESTION, of=None, **given):
    return (of or client()).chat.completions.create(**{"model": MODEL, "messages": messages} | given)


def plain():
    reply = ask(user="user-7", extra_headers={"x-request-id": "from-python"}, temperature=0.2, seed=7)
    choice = reply.choices[0]
    return {
        "id": reply.id,
        "object": reply.object,
        "model": reply.model,
        "role": choice.message.role,
        "content": choice.message.content,
        "finish_reason": choice.finish_reason,
        "usage": reply.usage.model_dump(exclude_none=True),
        "request_id": reply._request_id,
    }


def streamed():
    chunks = list(ask(stream=True, stream_options={"include_usage": True}))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    return {
        "ids": sorted({chunk.id for chunk in chunks}),
        "objects": sorted({chunk.object for chunk in chunks}),
        "first": choices[0].delta.model_dump(exclude_none=True),
        "content": "".join(choice.delta.content or "" for choice in choices),
        "finish_reasons": [choice.finish_reason for choice in choices if choice.finish_reason],
        "last_delta": choices[-1].delta.model_dump(exclude_none=True),
        "usages": [chunk.usage.model_dump(exclude_none=True) for chunk in chunks if chunk.usage],
        "usage_is_last": chunks[-1].usage is not None and not chunks[-1].choices,
    }


def conversation():
    parts = [{"type": "text", "text": "How many customers are there per tier?"}]
    return ask(
        [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "free 54, pro 22, enterprise 8"},
            {"role": "user", "content": "only pro"},
            {"role": "user", "content": "only enterprise"},
        ]
    ).choices[0].message.content


def models():
    listed = [model.id for model in client().models.list()]
    return {"listed": listed, "one": client().models.retrieve(MODEL).id}


def failing(call):
    try:
        call()
        return "it did not fail"
    except openai.APIStatusError as error:
        seen = {"class": type(error).__name__, "status": error.status_code}
        retry = {h: error.response.headers[h] for h in ("retry-after", "x-should-retry") if h in error.response.headers}
        return seen | {"type": error.type, "code": error.code, "message": error.message} | retry
    except openai.APIError as error:  # a time-out of the client's own, and an error in the middle of a stream
        return {"class": type(error).__name__, "code": error.code, "message": error.message}


def flood():
    """Until one is too many."""
    for _ in range(200):
        seen = failing(lambda: client().models.list())
        if seen != "it did not fail":
            seen["retry-after"] = int(seen["retry-after"]) >= 1
            return seen
    return "it did not fail"


def errors():
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    calls = {
        "input_too_long": lambda: ask([{"role": "user", "content": "x" * 10_001}]),
        "wrong_key": lambda: ask(of=client(api_key="gh_wrong")),
        "unknown_model": lambda: ask(model="claude-da/nothing"),
        "n": lambda: ask(n=2),
        "tools": lambda: ask(tools=[tool]),
        "response_format": lambda: ask(response_format={"type": "json_object"}),
        "image": lambda: ask([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
        "no_messages": lambda: ask([]),
        "no_route": lambda: client().embeddings.create(model=MODEL, input="x"),
    }
    return {name: failing(call) for name, call in calls.items()}


cases = {
    "plain": plain,
    "streamed": streamed,
    "conversation": conversation,
    "models": models,
    "errors": errors,
    "flood": flood,
    "arithmetic": lambda: ask([{"role": "user", "content": "what's 2+2?"}]).choices[0].message.content,
    "slow": lambda: failing(lambda: ask([{"role": "user", "content": ENDLESS}], of=client(max_retries=2))),
    "slow_stream": lambda: failing(lambda: list(ask([{"role": "user", "content": ENDLESS}], stream=True))),
    "impatient": lambda: failing(lambda: ask([{"role": "user", "content": ENDLESS}], of=client(timeout=5))),
}
print(json.dumps({case: cases[case]() for case in wanted}))
