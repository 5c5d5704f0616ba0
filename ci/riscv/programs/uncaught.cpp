// An exception that nobody catches, thrown in a thread.
#include <stdexcept>
#include <thread>
int main() {
    std::thread t([] { throw std::runtime_error("uncaught"); });
    t.join();
}
