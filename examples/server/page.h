// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace server {

// page.html: one file without outside resources, that chats and shows where tokens came from.
extern const std::string_view kPage;

}  // namespace server
