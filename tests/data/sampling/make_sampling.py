# SPDX-License-Identifier: Apache-2.0
"""Writes sampling.json: what transformers' LogitsProcessors make of synthetic logits.

Usage: python make_sampling.py > sampling.json      (needs torch and transformers)

A list of {temperature, top_k, top_p, min_p, repetition_penalty, history, logits, processed}, in the
order generate() applies them; a removed token is null in `processed`. Half of the rows are rounded
to quarters so that ties happen.
"""
import json

import torch
from transformers.generation.logits_process import (
    LogitsProcessorList, MinPLogitsWarper, RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

SETTINGS = [
    dict(temperature=1.0),
    dict(temperature=0.7),
    dict(temperature=2.5),
    dict(temperature=1.0, top_k=1),
    dict(temperature=1.0, top_k=5),
    dict(temperature=0.8, top_k=100),
    dict(temperature=1.0, top_p=0.9),
    dict(temperature=1.0, top_p=0.5),
    dict(temperature=1.0, top_p=0.0),
    dict(temperature=1.3, top_p=0.95, top_k=10),
    dict(temperature=1.0, min_p=0.1),
    dict(temperature=1.5, min_p=0.05, top_p=0.97),
    dict(temperature=1.0, min_p=1.0),
    dict(temperature=0.9, repetition_penalty=1.3),
    dict(temperature=0.9, repetition_penalty=0.7, top_k=8, top_p=0.8, min_p=0.02),
    dict(temperature=0.0, repetition_penalty=1.2),
]


def processors(s):
    chain = LogitsProcessorList()
    if "repetition_penalty" in s:
        chain.append(RepetitionPenaltyLogitsProcessor(s["repetition_penalty"]))
    if s["temperature"] == 0:
        return chain
    if s["temperature"] != 1:
        chain.append(TemperatureLogitsWarper(s["temperature"]))
    if "top_k" in s:
        chain.append(TopKLogitsWarper(s["top_k"]))
    if "top_p" in s:
        chain.append(TopPLogitsWarper(s["top_p"]))
    if "min_p" in s:
        chain.append(MinPLogitsWarper(s["min_p"]))
    return chain


torch.manual_seed(7)
rows = []
for settings in SETTINGS:
    for tied in (False, True):
        logits = torch.randn(1, 64) * 3
        if tied:
            logits = (logits * 4).round() / 4
        history = torch.randint(0, 64, (1, 12))
        out = processors(settings)(history, logits.clone())[0].tolist()
        rows.append(dict(settings, history=history[0].tolist(), logits=logits[0].tolist(),
                         processed=[None if x == float("-inf") else x for x in out]))
print("[" + ",\n".join(json.dumps(row) for row in rows) + "]")
