"""LangChain against the Analyst door: `analyst_langchain.py URL TOKEN`, prints JSON."""

import json
import sys

from langchain_openai import ChatOpenAI

url, token = sys.argv[1:]
model = ChatOpenAI(model="claude-da/analyst", base_url=f"{url}/v1", api_key=token, max_retries=0, stream_usage=True)
question = "How many customers are there per tier?"

invoked = model.invoke([("system", "Answer briefly."), ("human", question)])
chunks = list(model.stream(question))
whole = chunks[0]
for chunk in chunks[1:]:
    whole += chunk
print(
    json.dumps(
        {
            "invoked": {"content": invoked.content, "usage": invoked.usage_metadata is not None},
            "streamed": {
                "content": whole.content,
                "finish_reason": whole.response_metadata.get("finish_reason"),
                "pieces": len([chunk for chunk in chunks if chunk.content]) > 1,
                "usage": whole.usage_metadata is not None,
            },
        }
    )
)
