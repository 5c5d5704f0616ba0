/* ATAC's virtual channels and marks of a region of interest, for C and C++ programs that run under
 * `manycore run`. Elsewhere (qemu, hardware, other machines of the simulator) channels are kept in
 * memory and marks do nothing, so the same program runs there too.
 *
 * A port belongs to a thread, which must stay on one core (pthread_setaffinity_np). A channel in
 * memory keeps the last MC_SLOTS messages: a receiver may not fall further behind. */
#ifndef MANYCORE_H
#define MANYCORE_H

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>

enum { MC_SLOTS = 1024 };

typedef struct {
    long hardware; /* the network's number of it, or negative */
    uint64_t sent;
    struct {
        uint64_t number; /* of the message that is in the slot, from 1 */
        uint64_t payload;
        const void *sender;
    } slot[MC_SLOTS];
} mc_channel;

typedef struct {
    mc_channel *channel;
    uint64_t every; /* 0: each message; else the last of each so many */
    uint64_t seen;    /* messages that have gone by, in memory */
    uint64_t counted; /* of others, since the last that was given */
} mc_port;

#if defined(__riscv) && __riscv_xlen == 64
#define MC_CUSTOM(function, a, b)                                             \
    ({                                                                        \
        long mc_result;                                                       \
        __asm__ volatile(".insn r CUSTOM_0, 0, " #function ", %0, %1, %2"     \
                         : "=r"(mc_result)                                    \
                         : "r"((long)(a)), "r"((long)(b))                     \
                         : "memory");                                         \
        mc_result;                                                            \
    })
#else
#define MC_CUSTOM(function, a, b) (-1L)
#endif

/* Its address names the calling thread. */
static __thread char mc_thread;

/* Whether the program runs on the simulator, which alone has the instructions. */
static inline int mc_simulated(void) {
    static int known; /* 1: no, 2: yes */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == 0) {
        struct utsname name;
        answer = uname(&name) == 0 && strcmp(name.nodename, "manycore") == 0 ? 2 : 1;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == 2;
}

/* The region of interest: the simulator tells its cycles. */
static inline void mc_region_begin(void) {
    if (mc_simulated()) (void)MC_CUSTOM(64, 0, 0);
}
static inline void mc_region_end(void) {
    if (mc_simulated()) (void)MC_CUSTOM(65, 0, 0);
}

/* Makes a channel; 1 if it is the network's, 0 if it is kept in memory. */
static inline int mc_create(mc_channel *channel) {
    memset(channel, 0, sizeof *channel);
    channel->hardware = mc_simulated() ? MC_CUSTOM(0, 0, 0) : -1;
    return channel->hardware >= 0;
}

/* Opens the calling thread's port, from the messages of now on. With `every` of N, the port gives
 * the last of each N messages: a barrier of N + 1 threads waits for it. */
static inline void mc_open(mc_port *port, mc_channel *channel, uint64_t every) {
    port->channel = channel;
    port->every = every;
    port->counted = 0;
    port->seen = __atomic_load_n(&channel->sent, __ATOMIC_SEQ_CST);
    if (channel->hardware >= 0) {
        if (every == 0)
            (void)MC_CUSTOM(1, channel->hardware, 0);
        else
            (void)MC_CUSTOM(2, channel->hardware, every);
    }
}

static inline void mc_close(mc_port *port) {
    if (port->channel->hardware >= 0) (void)MC_CUSTOM(3, port->channel->hardware, 0);
}

/* Broadcasts to the open ports of all other threads. */
static inline void mc_send(mc_channel *channel, uint64_t payload) {
    if (channel->hardware >= 0) {
        (void)MC_CUSTOM(5, channel->hardware, payload);
        return;
    }
    uint64_t number = __atomic_add_fetch(&channel->sent, 1, __ATOMIC_SEQ_CST);
    channel->slot[number % MC_SLOTS].payload = payload;
    channel->slot[number % MC_SLOTS].sender = &mc_thread;
    __atomic_store_n(&channel->slot[number % MC_SLOTS].number, number, __ATOMIC_RELEASE);
}

/* The next message of the port, if it is there: 1, and its payload. */
static inline int mc_try(mc_port *port, uint64_t *payload) {
    mc_channel *channel = port->channel;
    if (channel->hardware >= 0) {
        if (MC_CUSTOM(6, channel->hardware, 0) != 1) return 0;
        *payload = (uint64_t)MC_CUSTOM(8, 0, 0);
        return 1;
    }
    for (;;) {
        uint64_t number = port->seen + 1, at = number % MC_SLOTS;
        if (__atomic_load_n(&channel->slot[at].number, __ATOMIC_ACQUIRE) != number) return 0;
        port->seen = number;
        if (channel->slot[at].sender == &mc_thread || ++port->counted < port->every) continue;
        port->counted = 0;
        *payload = channel->slot[at].payload;
        return 1;
    }
}

/* Waits for the next message of the port; its payload. */
static inline uint64_t mc_receive(mc_port *port) {
    uint64_t payload = 0;
    if (port->channel->hardware >= 0) {
        (void)MC_CUSTOM(7, port->channel->hardware, 0);
        return (uint64_t)MC_CUSTOM(8, 0, 0);
    }
    while (!mc_try(port, &payload)) sched_yield();
    return payload;
}

#endif
