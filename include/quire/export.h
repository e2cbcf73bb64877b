// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything is hidden by default (CXX_VISIBILITY_PRESET); what users may link is marked.
#define QUIRE_EXPORT __attribute__((visibility("default")))
