#include "clients/c/url.h"

#include <criterion/criterion.h>

Test(url, is_read_as_users_write_it)
{
	static const struct {
		const char *text, *host, *path;
		uint16_t port;
		bool tls;
	} cases[] = {
		{"127.0.0.1:7433", "127.0.0.1", "/v1/ws", 7433, false},
		{"ws://localhost:7433", "localhost", "/v1/ws", 7433, false},
		{"http://localhost:7433/", "localhost", "/v1/ws", 7433, false},
		{"wss://box.example", "box.example", "/v1/ws", 443, true},
		{"https://box.example/sandbar/ws", "box.example", "/sandbar/ws", 443, true},
		{"ws://[::1]:80/v1/ws", "::1", "/v1/ws", 80, false},
		{"ws://[::1]", "::1", "/v1/ws", 80, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct url url;
		cr_assert_eq(url_parse(&url, cases[i].text, NULL), 0, "%s", cases[i].text);
		cr_expect_str_eq(url.host, cases[i].host);
		cr_expect_str_eq(url.path, cases[i].path);
		cr_expect_eq(url.port, cases[i].port);
		cr_expect_eq(url.tls, cases[i].tls);
	}
}

Test(url, is_refused_by_name)
{
	static const char *const cases[] = {
		"",
		"ws://",
		"ws://:80",
		"ws://host:",
		"ws://host:0",
		"ws://host:65536",
		"ws://host:8x",
		"ws://[::1",
		"ws://a b:1",
		"ws://host:80:80",
		"ws://host\r\nX: y",
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct url url;
		struct sandbar_error error;
		cr_expect_eq(url_parse(&url, cases[i], &error), -1, "%s", cases[i]);
		cr_expect_str_eq(error.code, "usage");
	}
}
