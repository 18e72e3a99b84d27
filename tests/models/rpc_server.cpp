// rpc_server PORT: ggml's RPC server on this machine's CPU. Its buffers are not the client's memory, so what runs there
// would run on a GPU.
#include <cstdio>
#include <string>

#include <ggml-backend.h>
#include <ggml-rpc.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: rpc_server PORT\n");
    return 2;
  }
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  const std::string endpoint = std::string("127.0.0.1:") + argv[1];
  ggml_backend_rpc_start_server(endpoint.c_str(), nullptr, 1, 1, &cpu);
  return 0;
}
