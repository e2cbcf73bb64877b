// SPDX-License-Identifier: Apache-2.0
#include "http_server.h"

#include <httplib.h>
#include <quire/error.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "api_error.h"
#include "connection_threads.h"
#include "routes.h"

namespace server {
namespace {

constexpr std::size_t kThreadsForOthers = 16;
constexpr int kBacklog = 512;
constexpr auto kStallTimeout = std::chrono::seconds(10);
constexpr std::time_t kKeepAliveSeconds = 2;

class Listener : public httplib::Server {
 public:
  // The library listens with a backlog of five, which makes a burst of clients wait for a second.
  void deepen_backlog() { ::listen(svr_sock_, kBacklog); }
};

std::string key_of(const httplib::Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string authorization = request.get_header_value("Authorization");
  if (authorization.starts_with(kBearer)) return authorization.substr(kBearer.size());
  return request.get_header_value("x-api-key");
}

Call call_of(const httplib::Request& request, std::string body) {
  return {.method = request.method,
          .path = request.path,
          .body = std::move(body),
          .api_key = key_of(request),
          .anthropic = request.has_header("anthropic-version"),
          .name_space = {}};
}

void fill(httplib::Response& response, Reply reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (!reply.stream) return response.set_content(reply.body, reply.type);
  response.set_chunked_content_provider(
      reply.type, [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
        bool listened = true;
        stream([&](std::string_view piece) {
          listened = listened && sink.is_writable() && sink.write(piece.data(), piece.size());
          return listened;
        });
        if (listened) sink.done();
        return listened;
      });
}

}  // namespace

struct HttpServer::Impl {
  Impl(Engine& e, HttpOptions o) : engine(e), options(std::move(o)) {
    configure();
    route();
    bind();
    thread = std::thread([this] {
      listener.listen_after_bind();
      ended = true;
    });
    // Only a server that runs can be stopped.
    while (!listener.is_running() && !ended) std::this_thread::yield();
  }

  void configure() {
    const EngineOptions& limits = engine.options();
    const std::size_t threads =
        static_cast<std::size_t>(limits.max_batch + limits.max_queue) + kThreadsForOthers;
    listener.new_task_queue = [threads] {
      return std::make_unique<ConnectionThreads>(threads).release();  // it is theirs to delete
    };
    listener.set_payload_max_length(options.max_body_bytes);
    listener.set_read_timeout(kStallTimeout);
    listener.set_write_timeout(kStallTimeout);
    listener.set_keep_alive_timeout(kKeepAliveSeconds);
    listener.set_keep_alive_max_count(1000);
    listener.set_tcp_nodelay(true);
    // Not SO_REUSEPORT, with which a second server would take half of the first one's clients.
    listener.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
  }

  // Everything goes through answer(), so that bodies are read to their end whatever the reply is:
  // on a connection that lives on, what was left unread would be taken for the next request.
  void route() {
    const std::string all = R"([\s\S]*)";
    const auto without_body = [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response, request.body);
    };
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                  const httplib::ContentReader& reader) {
      read_and_answer(request, response, reader);
    };
    listener.Get(all, without_body);
    listener.Options(all, without_body);
    listener.Post(all, with_body);
    listener.Put(all, with_body);
    listener.Patch(all, with_body);
    listener.Delete(all, without_body);
    listener.set_exception_handler([](const auto& request, auto& response, std::exception_ptr) {
      fill(response, error_reply(ApiError(500, "the request could not be handled"),
                                 request.has_header("anthropic-version")));
    });
    // What the library refuses itself has no body.
    listener.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      const std::string message = "the request is not HTTP as this server understands it";
      fill(response, error_reply(ApiError(response.status, message),
                                 request.has_header("anthropic-version")));
    });
  }

  void bind() {
    errno = 0;
    port = options.port == 0 ? listener.bind_to_any_port(options.host) : options.port;
    const bool bound =
        options.port == 0 ? port > 0 : listener.bind_to_port(options.host, options.port);
    if (!bound) {
      const std::string why =
          errno == 0 ? "not a host's name or address" : std::generic_category().message(errno);
      throw quire::Error(quire::ErrorCode::kIo, options.host + ":" + std::to_string(options.port),
                         "cannot listen there: " + why);
    }
    listener.deepen_backlog();
  }

  void read_and_answer(const httplib::Request& request, httplib::Response& response,
                       const httplib::ContentReader& reader) {
    std::string body;
    std::size_t size = 0;
    const auto take = [&](const char* data, std::size_t length) {
      size += length;
      if (size <= options.max_body_bytes) body.append(data, length);
      return true;
    };
    bool read = true;
    if (request.is_multipart_form_data()) {
      read = reader([](const httplib::MultipartFormData&) { return true; }, take);
    } else if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) {
      read = reader(take);
    }  // without one of these there is no body, however long one waits for it
    if (size > options.max_body_bytes || response.status == 413) {
      return refuse(request, response,
                    ApiError(413, "expected a body of at most " +
                                      std::to_string(options.max_body_bytes) + " bytes"));
    }
    if (!read) return refuse(request, response, ApiError(400, "the body cannot be read"));
    answer(request, response, std::move(body));
  }

  void answer(const httplib::Request& request, httplib::Response& response, std::string body) {
    fill(response, respond(engine, options.keys, call_of(request, std::move(body))));
    if (options.log) {
      options.log(request.method + " " + request.path + " " + std::to_string(response.status));
    }
  }

  void refuse(const httplib::Request& request, httplib::Response& response, const ApiError& error) {
    const Call call = call_of(request, {});
    engine.metrics().count_reply("other", error.status);
    fill(response, error_reply(error, call.anthropic || call.path.starts_with("/v1/messages")));
  }

  void stop() {
    if (!thread.joinable()) return;
    listener.stop();
    if (!engine.places().wait_until_free(options.grace)) engine.cancel_all();
    thread.join();
  }

  Engine& engine;
  const HttpOptions options;
  Listener listener;
  int port = 0;
  std::atomic<bool> ended = false;
  std::thread thread;
};

HttpServer::HttpServer(Engine& engine, HttpOptions options)
    : impl_(std::make_unique<Impl>(engine, std::move(options))) {}

HttpServer::~HttpServer() { stop(); }

int HttpServer::port() const { return impl_->port; }

std::string HttpServer::url() const {
  const std::string& host = impl_->options.host;
  const bool ipv6 = host.find(':') != std::string::npos;
  return "http://" + (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(impl_->port);
}

void HttpServer::stop() { impl_->stop(); }

}  // namespace server
