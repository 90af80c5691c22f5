"""The provider of integrations/litellm as a library, without the proxy: `analyst_provider.py URL TOKEN DIR`, prints JSON."""

import asyncio
import json
import os
import sys

url, token, directory = sys.argv[1:]
os.environ |= {"GATEHOUSE_URL": url, "GATEHOUSE_TOKEN": token, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
sys.path.insert(0, directory)

import claude_da  # noqa: E402
import litellm  # noqa: E402

QUESTION = [{"role": "user", "content": "How many customers are there per tier?"}]
ASKED = {"model": "claude-da/analyst", "messages": QUESTION}


def joined(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


async def asynchronous():
    reply = await litellm.acompletion(**ASKED)
    chunks = [chunk async for chunk in await litellm.acompletion(**ASKED, stream=True)]
    raw = [chunk async for chunk in claude_da.handler.astreaming("analyst", QUESTION)]
    return reply.choices[0].message.content, joined(chunks), raw


def failing(call):
    try:
        call()
        return "it did not fail"
    except Exception as error:  # LiteLLM has a class for each status
        return {"status": getattr(error, "status_code", None), "message": str(error)}


litellm.suppress_debug_info = True  # it would print advice between our lines
claude_da.register()
answer, streamed, raw = asyncio.run(asynchronous())
print(
    json.dumps(
        {
            "acompletion": answer,
            "astreaming": streamed,
            "completion": litellm.completion(**ASKED).choices[0].message.content,
            "streaming": joined(litellm.completion(**ASKED, stream=True)),
            "fields": sorted({name for chunk in raw for name in chunk}),
            "finished": [(chunk["is_finished"], chunk["finish_reason"]) for chunk in raw][-2:],
            "indexes": sorted({chunk["index"] for chunk in raw}),
            "refused": failing(lambda: litellm.completion("claude-da/nothing", QUESTION)),
        }
    )
)
