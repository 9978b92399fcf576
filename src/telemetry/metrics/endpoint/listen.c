/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/log/log.h"

#define ALLOWED "allowed: ADDRESS:PORT such as 127.0.0.1:9464 or [::1]:9464"

static bool port_is_good(const char *port) {
	size_t digits = strlen(port);

	return digits >= 1 && digits <= 5 && strspn(port, "0123456789") == digits &&
	       strtoul(port, NULL, 10) <= UINT16_MAX;
}

/* Whether `host` is an IPv6 address with the name of an interface after %, whatever interfaces exist. */
static bool has_interface(const char *host) {
	const char *percent = strchr(host, '%');
	struct in6_addr parsed;
	char text[LISTEN_TEXT];

	if (percent == NULL || percent[1] == '\0')
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(percent - host), host);
	return inet_pton(AF_INET6, text, &parsed) == 1;
}

/* Parses a numeric address and port. Returns NULL with a `fault` as listen_open() has. */
static struct addrinfo *listen_parse(const char *address, int *fault) {
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
	};
	char host[LISTEN_TEXT];
	const char *colon = strrchr(address, ':'), *port = colon != NULL ? colon + 1 : "";
	size_t size = colon != NULL ? (size_t)(colon - address) : 0;
	struct addrinfo *found = NULL;
	bool brackets = size >= 2 && address[0] == '[' && address[size - 1] == ']', good;

	snprintf(host, sizeof(host), "%.*s", (int)(brackets ? size - 2 : size),
		 brackets ? address + 1 : address);
	good = size < sizeof(host) && port_is_good(port) && (strchr(host, ':') != NULL) == brackets;
	*fault = 0;
	if (good && getaddrinfo(size == 0 ? "0.0.0.0" : host, port, &hints, &found) == 0)
		return found;
	if (good && has_interface(host))
		*fault = ENODEV;
	else
		log_error("metrics", LOG_NO_FIELDS, "--metrics: found \"%s\", " ALLOWED, address);
	return NULL;
}

static void listen_address(int fd, char where[LISTEN_TEXT]) {
	struct sockaddr_storage own;
	socklen_t size = sizeof(own);
	char host[LISTEN_TEXT - 16] = "", port[8] = "";

	if (getsockname(fd, (struct sockaddr *)&own, &size) == 0)
		getnameinfo((struct sockaddr *)&own, size, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(where, LISTEN_TEXT, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

int listen_open(const char *address, char where[LISTEN_TEXT], int *family, int *fault) {
	struct addrinfo *to = listen_parse(address, fault);
	int fd, on = 1;

	if (to == NULL)
		return -1;
	*family = to->ai_family;
	fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && to->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
		*fault = errno;
		if (fd >= 0)
			close(fd);
		fd = -1;
	} else {
		listen_address(fd, where);
	}
	freeaddrinfo(to);
	if (fd < 0 && *fault == EINVAL) { /* a link-local address without its interface */
		log_error("metrics", LOG_NO_FIELDS,
			  "--metrics: found \"%s\", allowed: a link-local address with its "
			  "interface such as [fe80::1%%eth0]:9464",
			  address);
		*fault = 0;
	}
	return fd;
}
