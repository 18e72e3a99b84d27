// ggml ends the process if an RPC server is not there, is something else or speaks another version, and waits for ever
// if it is silent. So we shake hands ourselves before ggml hears of an endpoint.
#pragma once

#include <chrono>
#include <string>

namespace pgdlm {

// Error{invalid_request} if `endpoint` is not host:port, Error{unsupported} if no ggml RPC server of our version
// answers there in time; it says what came instead.
void require_rpc_server(const std::string& endpoint, std::chrono::milliseconds patience);

}  // namespace pgdlm
