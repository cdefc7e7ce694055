"""A small Django project, for `dynamic.py`: its migrations, queries and admin pages, in memory."""

from __future__ import annotations

from typing import Any

NAME = "django_project"


def configure() -> None:
    import django
    from django.conf import settings

    contrib = ("admin", "auth", "contenttypes", "sessions", "messages", "staticfiles")
    middleware = (
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    )
    processors = ("django.template.context_processors.request", "django.contrib.auth.context_processors.auth")
    settings.configure(
        SECRET_KEY="benchmark",
        ALLOWED_HOSTS=["testserver"],
        ROOT_URLCONF=NAME,
        INSTALLED_APPS=[*(f"django.contrib.{name}" for name in contrib), NAME],
        MIDDLEWARE=list(middleware),
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": [*processors, "django.contrib.messages.context_processors.messages"]},
            }
        ],
        STATIC_URL="/static/",
        USE_TZ=True,
    )
    django.setup()


def models() -> tuple[Any, Any]:
    from django.db import models

    class Author(models.Model):
        name = models.CharField(max_length=50, unique=True)
        born = models.DateField(null=True, blank=True)

        class Meta:
            app_label = NAME

    class Book(models.Model):
        title = models.CharField(max_length=100)
        author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
        editors = models.ManyToManyField(Author, related_name="edited", blank=True)
        price = models.DecimalField(max_digits=6, decimal_places=2, default=0)
        is_out = models.BooleanField(default=False)
        written_at = models.DateTimeField(auto_now_add=True)

        class Meta:
            app_label = NAME
            ordering = ("title",)

    return Author, Book


def migrate(author: Any, book: Any) -> None:
    from django.core.management import call_command
    from django.db import connection

    call_command("check", verbosity=0)
    call_command("migrate", verbosity=0)
    with connection.schema_editor() as editor:
        editor.create_model(author)
        editor.create_model(book)


def query(author: Any, book: Any) -> None:
    from django.db import transaction
    from django.db.models import Avg, Count, Exists, F, OuterRef, Prefetch, Q, Subquery

    with transaction.atomic():
        people = [author.objects.create(name=f"author {number}") for number in range(5)]
        book.objects.bulk_create(
            book(title=f"book {number}", author=people[number % 5], price=number) for number in range(20)
        )
    first = book.objects.select_related("author").get(title="book 1")
    first.editors.add(people[2], people[3])
    first.editors.remove(people[3])
    first.price = F("price") + 1
    first.save(update_fields=["price"])
    first.refresh_from_db()
    list(author.objects.annotate(n=Count("books"), mean=Avg("books__price")).filter(n__gt=1).order_by("-mean"))
    list(book.objects.filter(Q(price__gte=3) | ~Q(title__icontains="1")).exclude(author__name="author 4")[2:8])
    list(author.objects.prefetch_related(Prefetch("books", queryset=book.objects.filter(is_out=False))))
    list(author.objects.filter(Exists(book.objects.filter(author=OuterRef("pk"), price__lt=5))))
    newest = book.objects.filter(author=OuterRef("pk")).order_by("-written_at").values("title")[:1]
    list(author.objects.annotate(newest=Subquery(newest)).values_list("name", "newest"))
    book.objects.filter(price__lt=3).update(is_out=True)
    book.objects.filter(title__in=["book 3", "book 4"]).delete()
    author.objects.get_or_create(name="author 9", defaults={"born": "1990-01-01"})
    author.objects.update_or_create(name="author 9", defaults={"born": "1991-01-01"})
    book.objects.aggregate(Avg("price"))
    book.objects.dates("written_at", "year").union(book.objects.dates("written_at", "month"))


def register(author: Any, book: Any) -> None:
    from django.contrib import admin

    class Books(admin.TabularInline):  # type: ignore[type-arg]
        model = book
        extra = 1

    class Authors(admin.ModelAdmin):  # type: ignore[type-arg]
        list_display = ("name", "born")
        search_fields = ("name",)
        list_filter = ("born",)
        inlines = (Books,)

    admin.site.register(author, Authors)
    admin.site.register(book)


def visit() -> None:
    from django.contrib.auth.models import User
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()
    User.objects.create_superuser("root", "root@example.org", "secret")
    client = Client()
    client.post("/admin/login/?next=/admin/", {"username": "root", "password": "secret"})
    pages = ("", "author/", "author/?q=1&o=1", "author/add/", "author/1/change/", "author/1/history/", "book/add/")
    for page in ("/admin/", "/admin/auth/user/", *(f"/admin/{NAME}/{page}" for page in pages)):
        client.get(page)
    rows = {f"books-{word}": n for word, n in (("TOTAL_FORMS", 0), ("INITIAL_FORMS", 0))}
    client.post(f"/admin/{NAME}/author/add/", {"name": "new", "born": "2000-01-01", **rows})
    client.post(f"/admin/{NAME}/author/add/", {"name": "", **rows})
    client.post(f"/admin/{NAME}/author/1/delete/", {"post": "yes"})
    client.get("/admin/nowhere/")
    client.post("/admin/logout/")


def main() -> None:
    configure()
    author, book = models()
    register(author, book)
    migrate(author, book)
    query(author, book)
    visit()


def __getattr__(name: str) -> Any:
    """This module is also where Django looks for addresses, once it is set up."""
    if name == "urlpatterns":
        from django.contrib import admin
        from django.urls import path

        return [path("admin/", admin.site.urls)]
    raise AttributeError(name)


if __name__ == "__main__":
    main()
