"""A LangChain agent that reads and writes a company's records through one tool: Gatehouse's `POST /agent/db`.

    python agent.py "Which cases of client 123 are still open?"

GATEHOUSE_URL and GATEHOUSE_TOKEN say where it asks and as whom, ANTHROPIC_API_KEY pays for the model.
"""

import json
import os
import sys
import time

import httpx
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic

SYSTEM = """You work with the records of a company through one tool, in plain words, one step at a time.
If the tool asks a question back, answer it by sending a clearer instruction. If it refuses, say so; do not try to get
around it. Never claim that something was changed unless the tool said `ok`."""

gatehouse = httpx.Client(
    base_url=os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8080"),
    headers={"authorization": f"Bearer {os.environ['GATEHOUSE_TOKEN']}"},
    timeout=60,
)


@tool
def records(instruction: str, resources: list[str] | None = None) -> str:
    """Read, insert or update records by one instruction in plain words, such as "Mark case_987 as IN_REVIEW".

    The answer has the rows as they are afterwards (`data`), or an `error` with a message, a hint and perhaps one question.

    Args:
        instruction: One step: what to find, what to record, or which one record to change and how.
        resources: The resources that it is probably about, if known.
    """
    body = {"natural_language": instruction, **({"hints": {"resources": resources}} if resources else {})}
    reply = gatehouse.post("/agent/db", json=body)
    if reply.status_code == 429:
        time.sleep(float(reply.headers.get("retry-after", 1)))
        reply = gatehouse.post("/agent/db", json=body)
    # Refusals and questions are answers too: the model can do something about most of them.
    return json.dumps(reply.json())


def main() -> None:
    model = ChatAnthropic(model=os.environ.get("MODEL", "claude-sonnet-5-5"), max_tokens=2000)
    agent = create_agent(model, tools=[records], system_prompt=SYSTEM)
    asked = {"messages": [{"role": "user", "content": " ".join(sys.argv[1:])}]}
    print(agent.invoke(asked, {"recursion_limit": 20})["messages"][-1].text)


if __name__ == "__main__":
    main()
