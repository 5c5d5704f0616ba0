// A thread throws an exception that no code catches.
#include <stdexcept>
#include <thread>
int main() {
    std::thread t([] { throw std::runtime_error("uncaught"); });
    t.join();
}
