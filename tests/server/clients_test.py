# SPDX-License-Identifier: Apache-2.0
"""The server as the official Python clients of OpenAI and Anthropic see it, on SmolLM2 and MiniLM.

Usage: clients_test.py PROGRAM      (needs openai, anthropic)
"""
import pathlib
import sys
import tempfile
import time
import unittest

import anthropic
import openai

from running_server import Server, model_folder

PROGRAM = sys.argv.pop(1)
MODEL, EMBEDDER = "smollm2", "minilm"
BRIEFLY = "You are a helpful assistant. Answer in one short sentence."
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
CAPITAL = [{"role": "system", "content": BRIEFLY}, *QUESTION]
RULES = "You are a precise technical editor. Answer in one short sentence. " * 12


def setUpModule():
    model_folder(MODEL), model_folder(EMBEDDER)
    global keys, server
    keys = tempfile.NamedTemporaryFile("w", suffix=".keys")
    keys.write("key-a alpha\nkey-b beta\n")
    keys.flush()
    server = Server(PROGRAM, MODEL, "--embedder", EMBEDDER, "--api-keys", keys.name, "--max-batch", "2", "--max-queue", "2")
    server.__enter__()


def tearDownModule():
    server.__exit__(None, None, None)
    keys.close()


def openai_client(key="key-a", **options):
    return openai.OpenAI(base_url=server.url + "/v1", api_key=key, **options)


def anthropic_client(key="key-a", **options):
    return anthropic.Anthropic(base_url=server.url, api_key=key, **options)


class OpenAI(unittest.TestCase):
    def setUp(self):
        self.client = openai_client()

    def chat(self, **options):
        return self.client.chat.completions.create(**{"model": MODEL, "messages": CAPITAL, "max_tokens": 24, "temperature": 0} | options)

    def test_chat(self):
        answer = self.chat()
        self.assertIn("Paris", answer.choices[0].message.content)
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        usage = answer.usage
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        self.assertEqual(self.chat().usage.prompt_tokens_details.cached_tokens, usage.prompt_tokens - 1)

    def test_stream_is_the_answer(self):
        whole = self.chat()
        text, finish, usage = "", None, None
        for chunk in self.chat(stream=True, stream_options={"include_usage": True}):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
            usage = chunk.usage or usage
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(finish, whole.choices[0].finish_reason)
        self.assertEqual(usage.prompt_tokens, whole.usage.prompt_tokens)
        self.assertEqual(usage.completion_tokens, whole.usage.completion_tokens)

    def test_the_helper_for_streams(self):
        with self.client.chat.completions.stream(model=MODEL, messages=CAPITAL, max_tokens=24, temperature=0) as stream:
            for _ in stream:
                pass
        final = stream.get_final_completion()
        self.assertEqual(final.choices[0].message.content, self.chat().choices[0].message.content)

    def test_stop_and_length(self):
        whole = self.chat().choices[0].message.content
        stopped = self.chat(stop="Paris").choices[0]
        self.assertEqual(stopped.message.content, whole[:whole.index("Paris")])
        self.assertEqual(stopped.finish_reason, "stop")
        self.assertEqual(self.chat(max_tokens=2).choices[0].finish_reason, "length")
        self.assertEqual(self.chat(max_tokens=openai.omit, max_completion_tokens=2).usage.completion_tokens, 2)

    def test_n_and_seed(self):
        drawn = [self.chat(n=2, temperature=1.2, seed=5, max_tokens=12) for _ in range(2)]
        texts = [[choice.message.content for choice in answer.choices] for answer in drawn]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0][0], texts[0][1])
        self.assertEqual([choice.index for choice in drawn[0].choices], [0, 1])

    def test_completions(self):
        options = {"model": MODEL, "prompt": "The capital of France is", "max_tokens": 8, "temperature": 0}
        whole = self.client.completions.create(**options)
        self.assertIn("Paris", whole.choices[0].text)
        streamed = "".join(chunk.choices[0].text for chunk in self.client.completions.create(**options, stream=True))
        self.assertEqual(streamed, whole.choices[0].text)

    def test_embeddings(self):
        texts = ["How do I reset my password?", "How can I reset my password?", "The weather is fine."]
        answer = self.client.embeddings.create(model=EMBEDDER, input=texts)  # the client asks for base64
        plain = self.client.embeddings.create(model=EMBEDDER, input=texts, encoding_format="float")
        vectors = [item.embedding for item in answer.data]
        self.assertEqual([len(vector) for vector in vectors], [384] * 3)
        for vector, other in zip(vectors, plain.data):
            for a, b in zip(vector, other.embedding):
                self.assertAlmostEqual(a, b, places=6)
        dot = lambda a, b: sum(x * y for x, y in zip(a, b))
        self.assertGreater(dot(vectors[0], vectors[1]), 0.9)
        self.assertLess(dot(vectors[0], vectors[2]), 0.5)

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], [MODEL, EMBEDDER])
        self.assertEqual(self.client.models.retrieve(MODEL).id, MODEL)

    def test_an_earlier_answer(self):
        ask = lambda question: self.chat(messages=[CAPITAL[0], {"role": "user", "content": question}], extra_body={"semantic": True})
        answers = [ask(question) for question in ("Who wrote Hamlet?", "Who wrote Hamlet?", "who wrote  Hamlet?", "Who did write Hamlet?", "Who wrote Faust?")]
        self.assertEqual([answer.quire["cache"]["source"] for answer in answers], ["model", "exact", "normalized", "semantic", "model"])
        for answer in answers[1:4]:
            self.assertEqual(answer.choices[0].message.content, answers[0].choices[0].message.content)

    def test_errors_are_the_clients_own(self):
        for options in ({"messages": []}, {"messages": [{"role": "wizard", "content": "Hi"}]}, {"temperature": 3}, {"top_p": 2},
                        {"max_tokens": 10**6}, {"n": 0}):
            with self.assertRaises(openai.BadRequestError) as raised:
                self.chat(**options)
            self.assertTrue(raised.exception.body["message"])
        with self.assertRaises(openai.NotFoundError):
            self.chat(model="another")
        with self.assertRaises(openai.AuthenticationError):
            openai_client("nobody's").models.list()
        with self.assertRaises(openai.APIStatusError) as raised:
            self.chat(messages=[{"role": "user", "content": "x" * (17 << 20)}])
        self.assertEqual(raised.exception.status_code, 413)

    def test_429_when_full_and_leaving_makes_room(self):
        impatient = openai_client(max_retries=0)
        options = {"model": MODEL, "messages": CAPITAL, "max_tokens": 500, "temperature": 0, "stream": True, "extra_body": {"ignore_eos": True}}
        streams = [impatient.chat.completions.create(**options) for _ in range(4)]
        with self.assertRaises(openai.RateLimitError):
            impatient.chat.completions.create(**options)
        for stream in streams:
            stream.close()
        for _ in range(300):
            if server.metric("quire_requests_active") == 0:
                break
            time.sleep(0.1)
        self.assertEqual(server.metric("quire_requests_active"), 0)
        self.assertIn("Paris", self.chat().choices[0].message.content)


class Anthropic(unittest.TestCase):
    def setUp(self):
        self.client = anthropic_client()

    def ask(self, **options):
        return self.client.messages.create(**{"model": MODEL, "max_tokens": 24, "system": BRIEFLY, "messages": QUESTION} | options)

    def test_message(self):
        answer = self.ask()
        self.assertIn("Paris", answer.content[0].text)
        self.assertEqual(answer.stop_reason, "end_turn")
        self.assertEqual(self.client.messages.count_tokens(model=MODEL, system=BRIEFLY, messages=QUESTION).input_tokens, answer.usage.input_tokens)

    def test_a_long_system_prompt_is_created_and_then_read(self):
        system = [{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}]
        first, second = self.ask(system=system), self.ask(system=system)
        created = first.usage.cache_creation_input_tokens
        self.assertGreater(created, 100)
        self.assertEqual(first.usage.cache_read_input_tokens, 0)
        self.assertEqual(second.usage.cache_creation_input_tokens, 0)
        self.assertEqual(second.usage.cache_read_input_tokens, created)
        self.assertEqual(first.usage.input_tokens, second.usage.input_tokens)
        self.assertEqual(first.content[0].text, second.content[0].text)
        total = self.client.messages.count_tokens(model=MODEL, messages=QUESTION, system=system).input_tokens
        self.assertEqual(first.usage.input_tokens + created, total)
        other = anthropic_client("key-b").messages.create(model=MODEL, max_tokens=24, messages=QUESTION, system=system)
        self.assertEqual(other.usage.cache_creation_input_tokens, created, "another tenant's")
        with self.client.messages.stream(model=MODEL, max_tokens=24, messages=QUESTION, system=system) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual(text, second.content[0].text)
        self.assertEqual(final.usage.cache_read_input_tokens, created)
        self.assertEqual(final.usage.cache_creation_input_tokens, 0)
        self.assertEqual(final.usage.input_tokens, second.usage.input_tokens)

    def test_a_mark_of_the_whole_request(self):
        options = {"system": RULES + "Be kind.", "cache_control": {"type": "ephemeral"}}
        first, second = self.ask(**options), self.ask(**options)
        self.assertGreater(first.usage.cache_creation_input_tokens, 100)
        self.assertEqual(second.usage.cache_read_input_tokens, first.usage.cache_creation_input_tokens)

    def test_stream(self):
        whole = self.ask()
        kinds = []
        with self.client.messages.stream(model=MODEL, max_tokens=24, system=BRIEFLY, messages=QUESTION) as stream:
            for event in stream:
                kinds.append(event.type)
            final = stream.get_final_message()
        self.assertEqual(final.content[0].text, whole.content[0].text)
        self.assertEqual(final.stop_reason, whole.stop_reason)
        self.assertEqual(final.usage.output_tokens, whole.usage.output_tokens)
        self.assertEqual((kinds[0], kinds[-1]), ("message_start", "message_stop"))

    def test_stop_sequence(self):
        answer = self.ask(stop_sequences=["Paris"])
        self.assertEqual((answer.stop_reason, answer.stop_sequence), ("stop_sequence", "Paris"))
        self.assertEqual(self.ask(max_tokens=2).stop_reason, "max_tokens")

    def test_errors_are_the_clients_own(self):
        for options in ({"messages": []}, {"messages": [{"role": "wizard", "content": "Hi"}]}, {"extra_body": {"temperature": 1.5}}, {"max_tokens": 10**4}):
            with self.assertRaises(anthropic.BadRequestError) as raised:
                self.ask(**options)
            self.assertEqual(raised.exception.body["error"]["type"], "invalid_request_error")
        with self.assertRaises(anthropic.NotFoundError):
            self.ask(model="another")
        with self.assertRaises(anthropic.AuthenticationError):
            anthropic_client("nobody's").messages.create(model=MODEL, max_tokens=5, messages=QUESTION)

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], [MODEL, EMBEDDER])


if __name__ == "__main__":
    unittest.main()
