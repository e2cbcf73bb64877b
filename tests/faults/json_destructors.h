// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace quire::faults {

// Whether a destructor of the JSON library is running on this thread. They allocate, and a failure
// there ends the process.
bool in_json_destructor();

}  // namespace quire::faults
