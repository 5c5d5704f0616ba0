// Exceptions through many frames, virtual functions, containers, strings and streams.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override {
        if (side < 0) throw std::domain_error("a side of " + std::to_string(side));
        return side * side;
    }
};
static double sum(const std::vector<std::unique_ptr<Shape>> &all, std::size_t at) {
    return at == all.size() ? 0 : all[at]->area() + sum(all, at + 1);
}
int main() {
    std::map<std::string, int> words;
    std::istringstream text("the quick brown fox jumps over the lazy dog the end");
    for (std::string word; text >> word;) words[word]++;
    for (auto &[word, count] : words) std::cout << word << ' ' << count << '\n';
    for (double last : {4.0, -1.5}) {
        std::vector<std::unique_ptr<Shape>> all;
        for (int i = 0; i < 50; i++) all.push_back(std::make_unique<Square>(i));
        all.push_back(std::make_unique<Square>(last));
        try {
            std::cout << sum(all, 0) << '\n';
        } catch (const std::exception &error) {
            std::cout << "caught " << error.what() << '\n';
        }
    }
    return 5;
}
