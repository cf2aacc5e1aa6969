#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call. */

static inline CURLcode zr_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode zr_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode zr_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode zr_curl_set_list(
    CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

/* Trusts the authorities of a PEM file, and no others: left alone, libcurl would trust those in the
   directory of its build as well. */
static inline CURLcode zr_curl_trust_only(CURL *handle, const char *file) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(handle, CURLOPT_CAINFO, file);
}

typedef size_t (*zr_curl_write)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode zr_curl_set_write(CURL *handle, zr_curl_write function, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}

typedef int (*zr_curl_progress)(
    void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);

static inline CURLcode zr_curl_set_progress(
    CURL *handle, zr_curl_progress function, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
  if (code != CURLE_OK) return code;
  code = curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

static inline long zr_curl_get_long(CURL *handle, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* Microseconds; 0 if the transfer did not come that far. */
static inline long long zr_curl_get_time(CURL *handle, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode zr_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

typedef curl_socket_t (*zr_curl_open)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode zr_curl_set_open(CURL *handle, zr_curl_open function, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}

/* The bytes of an address that libcurl is about to connect to, and how many they are: 4, 16, or 0
   for a family that has none. The address is longer than the field that holds it. */
static inline int zr_curl_address_bytes(struct curl_sockaddr *address, unsigned char bytes[16]) {
  if (address->family == AF_INET) {
    struct sockaddr_in ip;
    memcpy(&ip, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof ip);
    memcpy(bytes, &ip.sin_addr, 4);
    return 4;
  }
  if (address->family == AF_INET6) {
    struct sockaddr_in6 ip;
    memcpy(&ip, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof ip);
    memcpy(bytes, &ip.sin6_addr, 16);
    return 16;
  }
  return 0;
}

static inline curl_socket_t zr_curl_open_socket(struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline curl_socket_t zr_curl_no_socket(void) { return CURL_SOCKET_BAD; }

/* Null if there is no such field. Valid until the handle is used again. */
static inline const char *zr_curl_header(CURL *handle, const char *name) {
  struct curl_header *header = NULL;
  return curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
             ? header->value
             : NULL;
}

/* The seconds since 1970 that a Date field tells; -1 if it tells none. */
static inline long long zr_curl_date(const char *field) { return curl_getdate(field, NULL); }

/* The seconds that a Retry-After field asks for: a number of them or a date (RFC 9110, section
   10.2.3); a date that is over asks for 0. -1 if it is neither. */
static inline long long zr_curl_retry_after(const char *field) {
  size_t digits = strspn(field, "0123456789");
  if (digits > 0 && field[digits] == 0) return digits < 16 ? strtoll(field, NULL, 10) : -1;
  time_t date = curl_getdate(field, NULL);
  if (date < 0) return -1;
  time_t now = time(NULL);
  return date > now ? date - now : 0;
}

/* The result that a message of a finished transfer carries. */
static inline CURLcode zr_curl_message_result(CURLMsg *message) { return message->data.result; }
