// The C++ library: containers, algorithms, variants, random numbers, exceptions passed between threads.
#include <algorithm>
#include <any>
#include <bitset>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>
struct Base {
    virtual ~Base() { alive--; }
    Base() { alive++; }
    static int alive;
};
int Base::alive = 0;
struct Left : virtual Base {};
struct Right : virtual Base {};
struct Both : Left, Right {};
struct Throws {
    explicit Throws(int at) {
        if (at == 3) throw std::invalid_argument("constructor " + std::to_string(at));
    }
    Base member;
};
static void outer() {
    try {
        std::vector<std::unique_ptr<Throws>> all;
        for (int i = 0; i < 5; i++) all.push_back(std::make_unique<Throws>(i));
    } catch (...) {
        std::throw_with_nested(std::runtime_error("outer"));
    }
}
static void print(const std::exception &error, int depth = 0) {
    std::cout << std::string(depth, ' ') << error.what() << '\n';
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        print(inner, depth + 1);
    }
}
int main() {
    std::mt19937_64 engine(42);
    std::vector<int> list(2000);
    std::generate(list.begin(), list.end(), [&] { return static_cast<int>(engine() % 1000); });
    std::nth_element(list.begin(), list.begin() + 1000, list.end());
    std::cout << list[1000] << ' ';
    std::stable_sort(list.begin(), list.end(), std::greater<>());
    std::cout << list.front() << ' ' << std::accumulate(list.begin(), list.end(), 0L) << ' '
              << std::set<int>(list.begin(), list.end()).size() << '\n';
    std::unordered_map<std::string, std::deque<int>> index;
    for (int i = 0; i < 300; i++) index["key" + std::to_string(i % 17)].push_front(i);
    std::cout << index.size() << ' ' << index["key5"].front() << ' ' << index.at("key16").size();
    try {
        index.at("missing");
    } catch (const std::out_of_range &) {
        std::cout << " out of range\n";
    }
    std::variant<int, std::string, double> value = "text";
    std::cout << std::visit([](auto &held) { return sizeof held; }, value) << ' ' << value.index();
    try {
        std::cout << std::get<int>(value);
    } catch (const std::bad_variant_access &) {
        std::cout << " bad access ";
    }
    std::any any = std::optional<int>(7);
    std::cout << *std::any_cast<std::optional<int>>(any) << ' ' << std::bitset<12>(0xA5) << '\n';
    std::unique_ptr<Base> base = std::make_unique<Both>();
    std::cout << (dynamic_cast<Right *>(base.get()) != nullptr) << (typeid(*base) == typeid(Both))
              << ' ';
    base.reset();
    std::exception_ptr carried;
    std::thread([&] {
        try {
            outer();
        } catch (...) {
            carried = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(carried);
    } catch (const std::exception &error) {
        print(error);
    }
    try {
        std::vector<char> huge(std::size_t(1) << 60);
    } catch (const std::bad_alloc &) {
        std::cout << "no room\n";
    }
    std::cout << Base::alive << std::endl;
    std::set_terminate([] {
        std::cout << "terminated" << std::endl;
        std::_Exit(21);
    });
    throw 5;
}
